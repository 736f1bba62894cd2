"""Amounts in the text: what each is worth, and what the words right around it make of it."""

from collections.abc import Set
from decimal import Decimal

from app.pipeline.grounding.mentions import MOST_MENTIONS, MoneyKind, MoneyMention
from app.pipeline.grounding.money import words
from app.pipeline.grounding.text.normalise import UNREADABLE
from app.pipeline.grounding.text.numerals import Numeral, join_space_groups, times_of
from app.pipeline.grounding.text.passage import Passage, whole_number
from app.pipeline.grounding.text.tokens import Kind

_LARGEST_PENCE = 10_000_000_000
_BARE_REACH = 5
"""Tokens between a word for a price and a number without currency."""
_SMALLEST_BARE_PENCE = 20_00
"""A smaller number without a currency is rather a count, an age or an hour."""

_VAGUE_ONLY_LED = frozenset({"grand", "thousand", "thousands", "hundred", "hundreds", "million", "sterling"})
_LEADS_TO_VAGUE = frozenset({"a", "few", "several", "couple", "some", "of", "many", "half"})

_AGE_LEADS = frozenset({"i'm", "im", "am", "aged", "age"})
_ENDS_AMOUNT = frozenset({"£", "k", "pounds", "quid"})


def find_money(passage: Passage, numerals: list[Numeral], taken: Set[int]) -> list[MoneyMention]:
    """Positions in taken already mean something else."""
    found = _marked(passage, numerals, taken)
    explained = {position for mention in found for position in mention.positions}
    found += _currencies_alone(passage, explained)
    explained.update(position for mention in found for position in mention.positions)
    found += _percentages(passage, numerals, explained)
    found.sort(key=lambda mention: mention.first)
    if len(found) > MOST_MENTIONS:
        return found
    return [_weighed(passage, mention, found) for mention in found]


def find_bare_money(passage: Passage, numerals: list[Numeral], taken: Set[int]) -> list[MoneyMention]:
    """Numbers without a currency where a word for a price leads to them: "the price is 410". Looked for last."""
    found = []
    for numeral in numerals:
        if taken.isdisjoint(range(numeral.first, numeral.last + 1)) and _is_led_by_price(passage, numeral):
            amount = _to_pence(numeral.value)
            if amount is None or amount >= _SMALLEST_BARE_PENCE:
                mention = _amount(numeral.first, numeral.last, amount, has_currency=False)
                found.append(_weighed(passage, mention, [mention]))
    return found


def as_bare_money(passage: Passage, numeral: Numeral) -> MoneyMention:
    """A number that stands for an amount because of what is around it in the conversation."""
    mention = _amount(numeral.first, numeral.last, _to_pence(numeral.value), has_currency=False)
    return _weighed(passage, mention, [mention])


def _amount(first: int, last: int, pence: int | None, has_currency: bool = True) -> MoneyMention:
    is_readable = pence is not None and pence <= _LARGEST_PENCE
    kind = MoneyKind.COMPONENT if is_readable else MoneyKind.UNREADABLE
    note = "" if is_readable else "an amount is written in a way that can be read twice"
    return MoneyMention(first, last, pence if is_readable else None, kind, note, has_currency=has_currency)


def _to_pence(pounds: Decimal | None) -> int | None:
    """None where the amount is no whole number of pence."""
    if pounds is None:
        return None
    hundredfold = pounds * 100
    return int(hundredfold) if hundredfold == hundredfold.to_integral_value() else None


def _marked(passage: Passage, numerals: list[Numeral], taken: Set[int]) -> list[MoneyMention]:
    """Amounts with a currency beside them, or so written that they can be nothing else ("6.5k", "ten grand")."""
    found: list[MoneyMention] = []
    after = -1
    for numeral in numerals:
        if numeral.first <= after:
            continue
        mention = _marked_at(passage, numeral, taken)
        if mention is not None:
            found.append(mention)
            after = mention.last
    return found


def _marked_at(passage: Passage, numeral: Numeral, taken: Set[int]) -> MoneyMention | None:
    sign_at = numeral.first - 1
    while passage.word(sign_at) in words.POUND_SIGNS and passage.word(sign_at - 1) in words.POUND_SIGNS:
        sign_at -= 1
    has_sign = passage.word(sign_at) in words.POUND_SIGNS and not _is_suffix(passage, sign_at)
    if _has_foreign_sign(passage, numeral):
        return _foreign(passage, numeral)
    if (
        passage.word(numeral.first - 1) == "."
        and passage.word(numeral.first - 2) in words.POUND_SIGNS
        and len(passage.word(numeral.first)) == 2
    ):
        return _amount(numeral.first - 2, numeral.last, numeral.whole)  # "£.99"
    if not has_sign and not taken.isdisjoint(range(numeral.first, numeral.last + 1)):
        return None
    joined = (
        numeral
        if not has_sign and passage.word(numeral.first - 1) in _AGE_LEADS
        else join_space_groups(passage, numeral)
    )
    if has_sign:
        return _with_pence(passage, sign_at, joined)
    unit = passage.word(joined.last + 1)
    if unit in words.PENCE_WORDS and (unit != "p" or passage.is_glued(joined.last + 1)):
        return _amount(joined.first, joined.last + 1, joined.whole)
    if unit in ("pound", "pounds") and not words.WEIGHT.isdisjoint(passage.clause_words[passage.clause(joined.first)]):
        return None
    if unit in words.POUND_WORDS and not _is_prefix(passage, joined.last + 1):
        return _with_pence(passage, joined.first, joined)
    is_slang = numeral.is_scaled and passage.word(numeral.last) in ("k", "grand", "tenner", "fiver")
    if is_slang:
        return _with_pence(passage, joined.first, joined)
    return None


def _is_suffix(passage: Passage, sign_at: int) -> bool:
    """ "400£ 34", "400 sterling": the sign belongs to the number before it."""
    if passage.word(sign_at) == "sterling":
        return passage.is_number(sign_at - 1) or passage.word(sign_at - 1) in (
            "pounds",
            "pound",
            "k",
            "hundred",
            "thousand",
        )
    return passage.is_glued(sign_at) and passage.is_number(sign_at - 1) and not passage.is_glued(sign_at + 1)


def _is_prefix(passage: Passage, sign_at: int) -> bool:
    """ "two £900 sessions": the sign belongs to the number after it."""
    is_sign = passage.word(sign_at) in words.POUND_SIGNS
    return is_sign and passage.is_number(sign_at + 1) and not passage.is_glued(sign_at)


def _has_foreign_sign(passage: Passage, numeral: Numeral) -> bool:
    before, after = numeral.first - 1, numeral.last + 1
    for at in (before, after):
        word = passage.word(at)
        if passage.is_currency(at) and word not in words.POUND_SIGNS and (at == before or passage.is_glued(at)):
            return True
        if word in words.FOREIGN_CODES or word in words.FOREIGN_WORDS:
            return True
    return False


def _foreign(passage: Passage, numeral: Numeral) -> MoneyMention:
    first, last = numeral.first, join_space_groups(passage, numeral).last
    while passage.is_currency(first - 1) or passage.word(first - 1) in words.FOREIGN_CODES:
        first -= 1
    while passage.word(last + 1) in words.FOREIGN_WORDS | words.FOREIGN_CODES or (
        passage.is_currency(last + 1) and passage.is_glued(last + 1)
    ):
        last += 1
    return MoneyMention(first, last, None, MoneyKind.FOREIGN, "a price in another currency has no value in pounds")


def _with_pence(passage: Passage, first: int, numeral: Numeral) -> MoneyMention:
    """ "300 pounds 50 pence", "£300 50p", "£400 pounds"."""
    last, total = numeral.last, _to_pence(numeral.value)
    if passage.word(last + 1) == "p" and passage.is_glued(last + 1) and "." in passage.word(last):
        last += 1
    while passage.word(last + 1) in words.POUND_WORDS and not _is_prefix(passage, last + 1):
        last += 1
    rest_at = last + 1 + (passage.word(last + 1) == "and")
    if passage.is_number(rest_at) and passage.word(rest_at + 1) in words.PENCE_WORDS:
        rest = whole_number(passage.word(rest_at))
        last = rest_at + 1
        total = total + rest if total is not None and rest is not None and rest < 100 else None
    return _amount(first, last, total)


def _currencies_alone(passage: Passage, explained: Set[int]) -> list[MoneyMention]:
    """A currency or an amount word that no number explains: "£???", "a few thousand", "in dollars"."""
    found = []
    for word in passage.all_words:
        is_foreign = word in words.FOREIGN_WORDS
        if not (is_foreign or word in words.VAGUE_AMOUNTS or word in words.POUND_SIGNS):
            continue
        for position in passage.places[word]:
            before = passage.word(position - 1)
            if position in explained or before in ("in", "pounds", "pound", "my"):
                continue
            if word in _VAGUE_ONLY_LED and before not in _LEADS_TO_VAGUE:
                continue
            if passage.word(position + 1) == UNREADABLE:
                found.append(MoneyMention(position, position, None, MoneyKind.PAST, "struck out"))
                continue
            kind = MoneyKind.FOREIGN if is_foreign else MoneyKind.UNREADABLE
            found.append(MoneyMention(position, position, None, kind, "a currency stands without an amount"))
    found += [
        MoneyMention(position, position, None, MoneyKind.FOREIGN, "a currency stands without an amount")
        for position, token in enumerate(passage.tokens)
        if token.kind is Kind.CURRENCY and token.text not in words.POUND_SIGNS and position not in explained
    ]
    for span in words.FREE.find(passage):
        if span.start not in explained:
            found.append(_amount(span.start, span.stop - 1, 0, has_currency=False))
    return found


def _percentages(passage: Passage, numerals: list[Numeral], explained: Set[int]) -> list[MoneyMention]:
    found = []
    has_money = bool(explained)
    for numeral in numerals:
        after = passage.word(numeral.last + 1)
        is_percent = after in ("%", "percent") or (after == "per" and passage.word(numeral.last + 2) == "cent")
        if not is_percent or numeral.first in explained or numeral.whole == 100:
            continue
        if not has_money and passage.word(numeral.last + 2) not in ("off", "discount"):
            continue
        if passage.word(numeral.last + 2) in ("sure", "certain", "positive", "of", "better"):
            continue
        last = numeral.last + 1 + (after == "per")
        kind, note = MoneyKind.DISCOUNT, "a percentage"
        follows = passage.after(last, 2)
        if "vat" in follows or "tax" in follows or "vat" in passage.before(numeral.first, 2):
            kind = MoneyKind.NET
        elif "deposit" in follows or "deposit" in passage.before(numeral.first, 2):
            kind = MoneyKind.DEPOSIT
        found.append(MoneyMention(numeral.first, last, None, kind, note))
    return found


def _is_led_by_price(passage: Passage, numeral: Numeral) -> bool:
    return not words.PRICE_CUES.isdisjoint(passage.before(numeral.first, _BARE_REACH)) and (
        not passage.is_word(numeral.last + 1) or not passage.is_glued(numeral.last + 1)
    )


def _weighed(passage: Passage, mention: MoneyMention, mentions: list[MoneyMention]) -> MoneyMention:
    """The mention as the kind that the words around it make it. mentions: all amounts of the passage."""
    if mention.kind is not MoneyKind.COMPONENT:
        return mention
    first, last = mention.first, mention.last
    if passage.is_signed(first):
        return mention.of_kind(MoneyKind.UNREADABLE, "an amount is negative")
    if _is_other_pound(passage, first, last):
        return mention.of_kind(MoneyKind.FOREIGN, "pounds of another country")
    if passage.word(last + 1) == "ish" and passage.is_glued(last + 1):
        return mention.of_kind(MoneyKind.RANGE)
    if _is_conversion(passage, mention, mentions):
        return mention.of_kind(MoneyKind.FOREIGN, "the conversion of a foreign price")
    if _is_struck_out(passage, first, last):
        return mention.of_kind(MoneyKind.PAST, "struck out")
    if _has_tail(passage, last):
        return mention.of_kind(MoneyKind.UNREADABLE, "an amount is written in a way that can be read twice")
    kind = _by_neighbours(passage, first, last) or _by_clause(passage, mention, mentions)
    if kind is not None:
        return mention.of_kind(kind)
    return mention


def _has_tail(passage: Passage, last: int) -> bool:
    follows = last + 1
    word = passage.word(follows)
    if times_of(word) is not None:
        return False
    is_tail = passage.is_word(follows) or passage.is_number(follows) or word == UNREADABLE
    has_digit = passage.is_word(follows) and any(character.isdecimal() for character in word)
    return (is_tail and passage.is_glued(follows)) or has_digit


def _cue_end(passage: Passage, first: int, transparent: Set[str] = words.TRANSPARENT_BEFORE) -> int:
    """Where a cue before the amount would end: articles and brackets passed over."""
    at = first
    while passage.word(at - 1) in transparent and passage.sentence(at - 1) == passage.sentence(first):
        at -= 1
    return at


def _by_neighbours(passage: Passage, first: int, last: int) -> MoneyKind | None:
    after_at = last + 1 + (passage.word(last + 1) == ")")
    for kind in (MoneyKind.DEPOSIT, MoneyKind.DISCOUNT, MoneyKind.NET, MoneyKind.INCLUDED):
        found = words.RIGHT_AFTER[kind].begin_at(passage, after_at)
        if found is not None and not _is_gross(passage, after_at) and _closes(passage, found, kind):
            return kind
    ends = {first, _cue_end(passage, first)}
    if _is_sum_or_gross(passage, first) or (passage.word(first - 1) == "~" and not passage.is_glued(first)):
        return None
    for kind, phrases in words.RIGHT_BEFORE.items():
        reach = {first, _cue_end(passage, first, words.TRANSPARENT_TO_BOUNDS)} if kind is MoneyKind.RANGE else ends
        if any(phrases.end_before(passage, end) for end in reach):
            if kind is MoneyKind.INCLUDED and passage.word(last + 1) in ("vat", "tax"):
                return MoneyKind.NET
            return kind
    if _is_was(passage, min(ends)):
        return MoneyKind.PAST
    if _is_range_before(passage, first) or _is_range_after(passage, last):
        return MoneyKind.RANGE
    return MoneyKind.PAST if words.RIGHT_AFTER[MoneyKind.PAST].begin_at(passage, after_at) else None


def _is_sum_or_gross(passage: Passage, first: int) -> bool:
    """ "adds up to £900", "inc VAT £420": other readings of the same words do not count."""
    is_sum = passage.word(first - 1) == "to" and words.SUM_BEFORE.end_before(passage, first)
    names_vat = passage.word(first - 1) == "vat" or passage.word(first - 2) == "vat"
    return bool(is_sum) or (names_vat and words.GROSS_BEFORE.end_before(passage, first))


def _closes(passage: Passage, found: range, kind: MoneyKind) -> bool:
    """ "£50 off" takes off only where nothing but the clause's end, or what it is taken from, follows."""
    if kind is not MoneyKind.DISCOUNT or passage.word(found.stop - 1) != "less":
        return True
    return not passage.is_number(found.stop)


def _is_gross(passage: Passage, position: int) -> bool:
    return words.GROSS_AFTER.begin_at(passage, position) is not None


def _is_was(passage: Passage, first: int) -> bool:
    """ "Was £999", "it was £999": outdated; "the quote was £999" only reports."""
    if passage.word(first - 1) not in ("was", "were"):
        return False
    return not (passage.same_clause(first - 1, first - 2) and passage.word(first - 2) in words.SAYS_PRICE_WAS)


def _is_range_before(passage: Passage, first: int) -> bool:
    at = _cue_end(passage, first) - 1
    word = passage.word(at)
    if word == "to":
        is_bound = passage.word(at - 1) == "up" and passage.word(at - 2) not in ("adds", "add", "adding", "totals")
        return is_bound or passage.is_number(at - 1) or _ends_amount(passage, at - 1)
    if word == "-":
        return _ends_amount(passage, at - 1) or (passage.is_glued(at) and passage.is_glued(at + 1))
    return False


def _ends_amount(passage: Passage, position: int) -> bool:
    has_sign = passage.is_number(position) and passage.word(position - 1) in words.POUND_SIGNS
    return has_sign or passage.word(position) in _ENDS_AMOUNT


def _is_range_after(passage: Passage, last: int) -> bool:
    follows = passage.word(last + 1)
    next_is_signed = passage.word(last + 2) in words.POUND_SIGNS
    next_is_amount = next_is_signed or passage.is_number(last + 2)
    if follows == "-":
        return next_is_signed or (next_is_amount and passage.is_glued(last + 1))
    if follows in ("to", "/", "till", "until"):
        return next_is_amount
    if follows == "+":
        return not next_is_amount and not passage.is_word(last + 2)
    found = words.RIGHT_AFTER[MoneyKind.RANGE].begin_at(passage, last + 1)
    return found is not None and follows not in ("to", "till", "until")


def _by_clause(passage: Passage, mention: MoneyMention, mentions: list[MoneyMention]) -> MoneyKind | None:
    """A cue anywhere in the clause says what the amount nearest to it is."""
    clause = passage.clause(mention.first)
    rivals = [other for other in mentions if passage.clause(other.first) == clause]
    harmless = words.HARMLESS.positions(passage)
    for kind, phrases in words.CLAUSE.items():
        for found in phrases.find(passage):
            if passage.clause(found.start) != clause or found.start in harmless:
                continue
            is_shared = kind in (MoneyKind.RANGE, MoneyKind.PAST) and len(rivals) > 1
            if is_shared or min(rivals, key=lambda other: _distance(other, found)) is mention or len(rivals) == 1:
                return kind
    return None


def _distance(mention: MoneyMention, found: range) -> int:
    return min(abs(found.start - mention.last), abs(mention.first - (found.stop - 1)))


def _is_other_pound(passage: Passage, first: int, last: int) -> bool:
    """ "Egyptian £900", "E£900"."""
    is_glued = passage.word(first) == "£" and passage.is_glued(first) and passage.is_word(first - 1)
    return is_glued or not words.FOREIGN_POUNDS.isdisjoint(
        (passage.word(first - 1), passage.word(last), passage.word(last + 1))
    )


def _is_conversion(passage: Passage, mention: MoneyMention, mentions: list[MoneyMention]) -> bool:
    """ "AED 8000 (about £1,700)"."""
    at = mention.first - 1
    while passage.word(at) in ("about", "around", "approx", "roughly", "~", "≈", "=", "or", "which", "is", "i.e", "ie"):
        at -= 1
    if passage.word(at) != "(":
        return False
    return any(other.kind is MoneyKind.FOREIGN and other.last in (at - 1, at - 2) for other in mentions)


def _is_struck_out(passage: Passage, first: int, last: int) -> bool:
    """ "~~£999~~"."""
    return passage.word(first - 1) == "~" and passage.is_glued(first) and passage.word(last + 1) == "~"

"""Text that gives orders to the assistant, or forges its data: numbers in it state nothing about the customer."""

from itertools import pairwise

from app.pipeline.grounding.age.words import FIRST_PERSON
from app.pipeline.grounding.text.passage import Passage, Phrases, word_set

_FIELDS = word_set(
    """
    customer_age price_components requested_date requested_time response_text reason_code criteria_met
    total_requested_value book_appointment insufficient_info under_age over_limit system_prompt
    """
)
_FIELD_REACH = 6
"""Tokens after a forged field name that belong to it."""

_ORDERS = Phrases(
    """
    customer verified; customer is verified; customer approved; customer is approved; pre - approved;
    preapproved; reply with; respond with; answer with; action = book; ignore all; ignore previous;
    ignore the rules; ignore your; ignore any; ignore the above; ignore every; disregard all;
    disregard previous; disregard the; disregard your; disregard any; forget your; forget all; forget the rules;
    forget previous; override; you are now; you must now; pretend; act as if; act as though; roleplay;
    role play; new instructions; new instruction; new rule; new policy; developer mode; debug mode; admin mode;
    admin override; maintenance mode; test mode; jailbreak; set age; set the age; set customer; set price;
    set the price; set total; set the total; treat the age; treat my age; treat the price; treat me as;
    record my age as; record the age as; record the price as; record age; enter my age as; enter the age as;
    put my age as; put down my age; use age; use the age; use 30 as; assume the age; assume my age; assume age;
    assume the customer; as an ai; language model; prompt; output json; json; set status; mark as; mark me as;
    mark this as; the system says; system override; system note; system notice; system message; system prompt;
    system update; note to ai; note to the ai; note to assistant; to the assistant; to the ai; dear ai;
    dear assistant; admin note; for the bot; to the bot
    """
)
_SPEAKERS = frozenset(
    {"system", "assistant", "admin", "developer", "user", "tool", "sys", "bot", "staff", "clinic", "receptionist"}
)
"""Right before a colon, at the beginning of a sentence: a forged turn."""
_OPENING = word_set("[ < { # |")
_SHORTEST_QUOTE = 6
"""Tokens. Shorter ones are titles and emphasis."""
_BRACKETS = {"[": "]", "<": ">", "{": "}"}


def instruction_positions(passage: Passage) -> frozenset[int]:
    blocks, unclosed = _in_forged_blocks(passage)
    sentences = {passage.sentence(found.start) for found in _ORDERS.find(passage) if found.start not in blocks}
    sentences.update(sentence for sentence, position in _forged_turns(passage) if position not in blocks)
    sentences.update(unclosed)
    found = _of_fields(passage) | blocks | _quoted(passage)
    if not sentences:
        return frozenset(found)
    return frozenset(found | _of_sentences(passage, sentences))


def _quoted(passage: Passage) -> set[int]:
    """'My mate wrote: "I'm 34 ..."': the words of somebody else."""
    found: set[int] = set()
    quotes = passage.places.get('"', [])
    for start, end in pairwise(quotes):
        if end - start >= _SHORTEST_QUOTE and start > 0:
            found.update(range(start, end + 1))
    return found


def _forged_turns(passage: Passage) -> set[tuple[int, int]]:
    """Sentence and position of each speaker that the customer does not have."""
    found = set()
    for word in _SPEAKERS & passage.all_words:
        for position in passage.places[word]:
            follows = passage.word(position + 1)
            is_first = position == 0 or passage.sentence(position - 1) != passage.sentence(position)
            is_marked = passage.word(position - 1) in _OPENING
            if (follows == ":" and (is_first or is_marked)) or (is_marked and word in ("system", "admin", "sys")):
                found.add((passage.sentence(position), position))
    return found


def _of_sentences(passage: Passage, sentences: set[int]) -> set[int]:
    """These sentences, and the ones after them until the customer speaks as "I" again."""
    first_person = {
        number for number, words in passage.sentence_words.items() if FIRST_PERSON.intersection(words) or "hi" in words
    }
    last = passage.tokens[-1].sentence
    reached = set(sentences)
    for sentence in sentences:
        following = sentence + 1
        while following <= last and following not in first_person:
            reached.add(following)
            following += 1
    return {position for position, token in enumerate(passage.tokens) if token.sentence in reached}


def _of_fields(passage: Passage) -> set[int]:
    found: set[int] = set()
    for word in passage.all_words:
        if word in _FIELDS or ("_" in word and len(word) > 2):
            for position in passage.places[word]:
                found.update(_in_sentence(passage, position, _reach(passage, position)))
    for position in passage.places.get('"', ()):
        # `"age": 30`: a quoted key with its value
        is_key = passage.word(position + 2) == '"' and passage.word(position + 3) == ":"
        if is_key:
            found.update(_in_sentence(passage, position, _FIELD_REACH))
    return found


def _in_sentence(passage: Passage, first: int, count: int) -> list[int]:
    last = min(first + count, len(passage.tokens))
    return [at for at in range(first, last) if passage.sentence(at) == passage.sentence(first)]


def _reach(passage: Passage, position: int) -> int:
    """A field with a value ("=", ":", "to", "is") reaches over it; a name alone is only itself."""
    follows = passage.word(position + 1) if passage.word(position + 1) != '"' else passage.word(position + 2)
    return _FIELD_REACH if follows in ("=", ":", "to", "is", "as", ">") else 1


def _in_forged_blocks(passage: Passage) -> tuple[set[int], set[int]]:
    """Positions from "[SYSTEM NOTICE]" to its "[/SYSTEM NOTICE]", and the sentences of those that nothing closes."""
    found: set[int] = set()
    unclosed: set[int] = set()
    for opening, closing in _BRACKETS.items():
        for position in passage.places.get(opening, ()):
            if passage.word(position + 1) not in _SPEAKERS:
                continue
            end = _block_end(passage, position, opening, closing)
            found.update(range(position, end + 1))
            if passage.word(end) != closing or not _is_closed(passage, position, opening):
                unclosed.add(passage.sentence(position))
    return found, unclosed


def _is_closed(passage: Passage, start: int, opening: str) -> bool:
    return any(at > start and passage.word(at - 1) == opening for at in passage.places.get("/", ()))


def _block_end(passage: Passage, start: int, opening: str, closing: str) -> int:
    first_close = next((at for at in passage.places.get(closing, ()) if at > start), start)
    for position in passage.places.get("/", ()):
        if position > first_close and passage.word(position - 1) == opening:
            return next((at for at in passage.places.get(closing, ()) if at > position), position)
    return first_close

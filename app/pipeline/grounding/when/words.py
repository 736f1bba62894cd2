"""The words of clocks and calendars, and the words that tell whether a day or an hour is the one asked for."""

from app.pipeline.grounding.text.passage import Phrases, word_set


def _numbered(names: str, start: int) -> dict[str, int]:
    """One line per number, its spellings in a row."""
    lines = [line.split() for line in names.strip().splitlines()]
    return {name: number for number, line in enumerate(lines, start) for name in line}


MONTHS = _numbered(
    """
    january jan
    february feb
    march mar
    april apr
    may
    june jun
    july jul
    august aug
    september sept sep
    october oct
    november nov
    december dec decem
    """,
    start=1,
)
WEEKDAYS = _numbered(
    """
    monday mon
    tuesday tues tue tuesady
    wednesday weds wed wednesay wensday
    thursday thurs thur thu thursay
    friday fri
    saturday sat
    sunday sun
    """,
    start=0,
)
"""Monday is 0."""

WORDS_TOO = frozenset({"sat", "sun", "wed", "mon", "may", "mar", "march"})
"""Short names that are other words as well; they need a day, an hour or "on" beside them."""

OPENS_BEFORE = word_set(
    """
    after before by from since until till til around about between except or either not last every each any
    roughly approximately past commencing beginning ending week weeks fortnight w than other never late early
    mid no
    """
)
"""Up to three tokens before a day or an hour, in its clause, they leave it open."""

OPENS_NEXT_TO = word_set("any every each last not no never early late mid other except")
"""Of these, the ones that only count right before."""

MEANS_WANTED = Phrases(
    """
    how about; what about; no problem; was after; am after; i'm after; im after; is after; we're after;
    were after; hoping for; asking about; no later than
    """
)
"""Phrases whose last word does not leave open what follows."""

OPENS_AFTER = word_set("or onwards onward ish latest earliest week fortnight ago")
"""Up to three tokens after a day or an hour they leave it open."""

SPAN_LINKS = frozenset({"-", "to", "until", "till", "/", "and", "&", "through", "thru", "or"})
"""Between two days or hours they make a span or a choice."""

ZONES = word_set("est edt cst cdt mst mdt pst pdt cet cest eet utc gmt bst ist jst aest z time")
"""After an hour: a clock that may not be the clinic's."""

NEGATED = word_set(
    """
    can't cant cannot won't wont don't dont not never unable unavailable isn't isnt doesn't couldn't wouldn't
    except away busy due holiday hols closed full without clash clashes
    """
)
"""In the clause of a day or an hour they say that it does not suit."""

NEGATED_BUT_WANTING = Phrases(
    """
    can't wait; cant wait; not sure if; don't mind; why not; can't afford; cant afford; not bothered;
    not worried; if not; wouldn't mind; not too busy; if you're not; if that's not; if you aren't;
    won't be late; can't i; couldn't i; don't you have; haven't you; i won't
    """
)

OTHER_IN_CLAUSE = Phrases(
    """
    saw you; met you; i work; we work; im working; i have the; i have my; i've got my; i've got the; rang me;
    you rang; called me; you called; emailed me; texted me; wrote to me; do you open; are you open; you open;
    you're closed; are you closed; is the clinic open; are you shut; you're shut; when you close; you close;
    you shut; when you open; my surgery was; surgery was; operation was; op was; had surgery; had an operation;
    my operation is; my op is; has me on; has me in; have me in; have me on; got me in; got me on; has me down;
    last visit; last appointment; last seen; last came; last time; last saw; last had; last treatment;
    last session; last one; previous; previously; visited; no good; no use; is out; are out; offered; refused;
    i came; saw me; saw us; seen me; back in; i paid; paid back; paid on; paid in; i saw; i was in; came in;
    was seen; since; ago; attended; diagnosed; had my; had an; had a; i had; used to; yesterday; expires;
    expire; expiry; runs out; ends; ended; valid; dated; deadline; birthday; bday; born; dob; d . o . b;
    date of birth; wedding; married; anniversary; funeral; exam; flight; flying; fly; travelling; holiday;
    abroad; move; moved; moving; quoted on; quoted me on; quote from; referred on; emailed on; email of;
    letter of; letter dated; wrote on; rang on; called on; spoke on; spoke to; ring me; call me; phone me;
    text me; email me; reach me; contact me; ring after; call after; ring before; call before; give me a ring;
    give me a call; free to talk; phone; clashes; finish; finishes; finish work; start work; starts work;
    at work; working; work until; work till; train; bus; leave; leaving; arrive; arrives; gets in; lands;
    landing; meeting; lunch; school; pick up; was on; were on; open at; open from; open till; open until; opens;
    opening; close at; closes; accident; fell; injured; broke; hurt; another clinic; other clinic;
    his appointment; her appointment; their appointment; my wife's; my husband's; my mum's; hers; theirs;
    off work; arrange; my shift; shift; other than
    """
)
"""In the clause of a day or an hour they say that it is another one than the one asked for."""

OPEN_IN_SENTENCE = Phrases(
    """
    second choice; first choice; plan b; backup; waiting list; reserve list; cancellation list; change; swap;
    push; shift; week commencing; a bit later; bit earlier; that day; different day; another day; tentatively;
    provisionally; perhaps; maybe; might; considering; remind me; need to ask; prefer not; anything but;
    any day but; any day except; any time but; any time except; impossible; the one after; the following;
    whichever; whatever; flexible; any time; anytime; any day; sometime; not that; if i can't; or any;
    or whenever; or later; or earlier; doesn't matter; hypothetically; would have
    """
)
"""In the sentence of a day or an hour they leave it open."""

WITHDRAWS = Phrases(
    """
    please don't; pls don't; please dont; just checking; decide later; no way; no chance; forget it;
    let me think; need to think; think about it; rather wait; wait until; hold off; not yet; on reflection;
    leave it; not ready; maybe later; another time; ask my; check with; but i can't; but i cant; but i cannot;
    but can't; lets me; if i get; if i can get; depends on; is an idea; when could you; when can you;
    when do you; what time could; which day could; when are you; what have you got; can't do that; cant do that;
    can't make it; cant make it; can't make that; cant make that; cannot make it; can't do it; can't come;
    cant come; not that day; not that date; not that time; that day is no good; that day's no good;
    won't be able; not be able; no longer able; no longer free; not free then; away then; away that day;
    busy then; busy that day; unable to make; not able to make; doesn't work any more; doesn't suit any more;
    something's come up; something has come up; let you know when; one or the other; you choose; you pick;
    up to you; your choice; either is fine; either one; either would; whichever; whatever suits; whatever works;
    when suits you; have to check; need to check; will check; let you know; not sure about the
    """
)
"""After a day or an hour they take it back."""

UNAVAILABLE = word_set("shut closed gone full unavailable taken booked no not sorry isn't aren't can't cannot last")
"""In a sentence of the assistant they take its days and hours off the offer."""

NAMED_DAYS = {
    ("christmas", "eve"): (12, 24),
    ("christmas", "day"): (12, 25),
    ("boxing", "day"): (12, 26),
    ("new", "year's", "eve"): (12, 31),
    ("new", "years", "eve"): (12, 31),
    ("new", "year's", "day"): (1, 1),
    ("new", "years", "day"): (1, 1),
}
"""Words -> month, day."""

OPEN_ANYWHERE = Phrases(
    """
    move it; need to move; have to move; got to move; my appointment is on; my appointment is at;
    my appointment on; cancel; cancelled; cancelling; reschedule; rescheduled; postpone; postponed; rearrange;
    bring forward; bring it forward; move my; moving my; move our; push back; alternatively; failing that;
    don't book; dont book; do not book; not book; don't want to book; just asking; just enquiring; just curious;
    already booked; already have an appointment; have an appointment; existing appointment
    """
)
"""They are about another appointment, or about none."""

HARMLESS = Phrases(
    """
    was hoping; was wondering; was thinking; was looking; was after; was told; was quoted; was given;
    was referred; was advised; was recommended; was planning; were hoping; were wondering; were thinking;
    last name; phone number; after work; after school; before school; after the school run; after lunch;
    before lunch; new patient; before work; can't move; off work; the change; a change; mobile phone;
    change it to; change that to; swap it to; swap it for; move it to; move that to; had a look; had a chat;
    i had a
    """
)

DAY_PARTS = {
    "morning": range(0, 12),
    "afternoon": range(12, 18),
    "evening": range(17, 24),
    "tonight": range(17, 24),
    "night": range(18, 24),
}
"""Part of a day -> the hours it can mean."""

DOUBTS_AFTER = word_set(
    """
    full out gone impossible taken bad no nothing wrong unlikely tight difficult awkward tricky hers theirs
    maybe possibly probably unless depends depending provided assuming perhaps might unclear iffy off nope lets
    allows permitting problem problematic
    """
)
"""After a day or an hour, in its clause, they leave it open whether it suits."""

ASKS = word_set(
    """
    meant answer bookable room right correct said book booked booking bookings appointment appointments appt
    appts slot slots come coming see seen seeing like want wants wanted need needs could can please pls plz free
    available availability suit suits work works works? do ok okay good great best perfect lovely ideal ideally
    fine brill brilliant prefer preferred preferably hope hoping hopefully wish wondering wonder schedule visit
    visits session sessions consultation consult treatment check-up checkup scan fit squeeze put pencil how
    about what possible poss chance have any room make easiest easier convenient suitable start starting begin
    attend pop popping let's lets arrange request requesting after for when date time day thanks merci bitte
    grazie gracias thank cheers then first second third would might may should will you your u there open? yes
    sure instead again still stands change swap choose pick go going with try able arrive wanna gonna gotta
    voudrais venir möchte kommen vorrei venire quisiera venir puede ser proszę chciałbym chciałabym bring
    bringing take get getting love looking forward right correct said keen doable handy soonest earliest sat sun
    mon tue tues wed weds thu thurs fri call's it'd it'll
    """
)
"""One of these in the clause of a day or an hour shows that it is asked for."""
NEUTRAL = word_set(
    """
    t uh on at the a an in of to for from this next coming and & or is it it's its i i'm im i'd i'll my me we
    our he she they his her their that which be by with as so but also too then now today tomorrow not o'clock
    sharp noon morning afternoon evening am pm year hi hello hey dear so um er ok x xx if or's one
    """
)
"""Words that say nothing about a day or an hour either way."""

BEGINS_ANOTHER_THOUGHT = word_set(
    """
    for and with i'm im am it it's its i'd i'll i've as because price cost age aged she's he's she he they
    quoted so my which total
    """
)
"""After these words the clause no longer speaks of the day or the hour."""

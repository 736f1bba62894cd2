"""The words around a number that make it an age, and tell whose age it is and when."""

from app.pipeline.grounding.text.passage import Phrases, word_set

FIRST_PERSON = frozenset(
    {"i", "i'm", "im", "i'd", "i'll", "i've", "me", "my", "mine", "id", "ive", "myself", "we", "we're"}
)
FILLERS = word_set("really actually currently only just now still a already also both well")
APPROXIMATE = word_set(
    "nearly almost over under about around approximately roughly above below probably maybe not aged age"
)
"""Between a person and an age they are passed over to find the person; what they mean is weighed apart."""

NO_PERSONS = word_set(
    """
    it that which this there here what price cost total fee number quote time date today tomorrow treatment
    session appointment consultation scan limit max maximum minimum room answer postcode phone deposit budget
    weight height size address house flat temperature score bmi door bus course visit dog cat horse puppy kitten
    car van boiler clinic line order ref code pin page level grade stage blood sugar pressure weather service
    knee hip back eye tooth procedure operation package deal offer bill invoice each one who's where's how's let
    how where
    """
)
"""What often stands before "is" or "'s" and a number that is no age."""

YEARS = frozenset({"years", "year", "yrs", "yr", "yo", "y"})
OLD = frozenset({"old", "o", "young"})

MAY_FOLLOW = word_set(
    """
    and n but so if now too btw please can could would with male female man woman lady gentleman m f who today
    looking wanting hoping want need it's its i i'd i'm i've my thanks thank ok okay fyi as though here yrs
    years old she he she's he's we for so just is are was then xx x they and not because also having hope since
    living these right nowadays presently like years' re regarding booking interested after ta cheers
    """
)
"""Words after "I'm 34" that leave it an age; any other word makes it doubtful."""

FUTURE_BEFORE = word_set(
    "turning turn turns nearly almost i'll she'll he'll they'll will be'll becoming become approaching"
)
FUTURE_AFTER = Phrases(
    """
    next week; next month; next year; next monday; next tuesday; next wednesday; next thursday; next friday;
    next saturday; next sunday; next birthday; in a week; in a fortnight; in a month; in a few; in a couple;
    in two; in three; in four; in five; in six; in 1; in 2; in 3; in 4; in 5; in 6; in 7; in 8; in 9; in 10;
    in january; in february; in march; in april; in may; in june; in july; in august; in september; in october;
    in november; in december; in jan; in feb; in dec; in spring; in summer; on monday; on tuesday; on wednesday;
    on thursday; on friday; on saturday; on sunday; on the; on my birthday; on christmas; on new; on my;
    on saint; on boxing; this month; this week; this year; tomorrow; soon; very soon; this friday; this monday;
    this tuesday; this wednesday; this thursday; this saturday; later this; before christmas; at christmas;
    by christmas; the week after; the month after
    """
)
"""After an age they say when it is reached; the age today is one less."""
UNTIL_AFTER = word_set("till until til")
"""After an age: it holds today."""
HALVES = Phrases(
    """
    and a half; & a half; and a bit; and three quarters; and a quarter; - and - a - half; and 3 months;
    and 6 months; 1 / 2; ½
    """
)

PAST_AFTER = Phrases(
    """
    when; at the time; last year; back then; last time; then; in 19; years ago
    """
)

RANGE_BEFORE = word_set(
    """
    over under above below about around between approximately probably maybe roughly approx least most than past
    either late early mid mid- or till up within circa
    """
)
RANGE_AFTER = word_set("ish or + plus odd to - / approx approximately roughly")

HEDGES_BEFORE = word_set(
    """
    not isn't aren't ain't isnt pretend say says said thinks think thought told look looks look like feel feels
    suppose imagine if assume were wish identify time once until before
    """
)
"""Up to three tokens before an age, in its clause, they take back that it is one."""

PEOPLE_FEMALE = word_set(
    """
    mum mother mom mam mummy nan nana gran granny grandma grandmother daughter girl wife girlfriend fiancée
    sister aunt auntie aunties niece granddaughter stepdaughter lady woman mam she missus
    """
)
PEOPLE_MALE = word_set(
    """
    dad father daddy grandad grandpa grandfather son boy lad husband boyfriend fiance fiancé brother uncle
    nephew grandson stepson man gentleman he hubby bloke
    """
)
PEOPLE_EITHER = word_set(
    """
    child kid partner cousin friend mate colleague baby toddler teenager boss client patient neighbour they
    employee spouse teen pal flatmate housemate roommate lodger nanny pupil student godson goddaughter gf bf
    """
)
SAME_PERSON = (
    frozenset({"son", "lad", "boy", "kid", "child", "teenager", "teen"}),
    frozenset({"daughter", "girl", "kid", "child", "teenager", "teen"}),
    frozenset({"mum", "mother", "mom", "mam", "mummy"}),
    frozenset({"dad", "father", "daddy"}),
    frozenset({"nan", "nana", "gran", "granny", "grandma", "grandmother"}),
    frozenset({"grandad", "grandpa", "grandfather"}),
    frozenset({"husband", "hubby", "partner", "spouse"}),
    frozenset({"wife", "missus", "partner", "spouse"}),
    frozenset({"baby", "toddler", "child", "kid"}),
    frozenset({"client", "patient"}),
)
PRONOUNS = {"she": "female", "he": "male", "they": "either", "her": "female", "him": "male", "them": "either"}
PEOPLE = (PEOPLE_FEMALE | PEOPLE_MALE | PEOPLE_EITHER) - {"she", "he", "they"}
PLURAL_PEOPLE = {
    "daughters", "sons", "kids", "children", "parents", "twins", "boys", "girls", "friends", "sisters", "brothers",
    "grandparents",
}  # fmt: skip
STRANGERS = word_set("lady woman man gentleman girl boy bloke teenager teen patient client child kid baby toddler")
"""Words for people that describe the one attending as often as somebody else: "52-year-old man"."""

LEADS_TO_ATTENDEE = word_set("for bring bringing it's its that's behalf book booking see seeing")
"""Up to three tokens before a person: that person attends."""
ATTENDS_AFTER = Phrases(
    """
    needs; needs to; need; wants; want; would like; would love; would be attending; would be coming;
    would be the; 'd like; is after; is looking; is hoping; is coming; is attending; is the patient; is the one;
    is having; will be coming; will be attending; will be the; will attend; is booked; is interested; is keen;
    has been referred; was referred; who'd be; who'd be attending; who'd be coming; who'd like; who would;
    who needs; who wants; who is coming; who's coming; who's attending; who will be; who is attending;
    that needs; that wants; come in; come; have; be seen; 's the one; 's the patient; 's coming; 's attending;
    's having; 's after; 'd be
    """
)
WRITER_ATTENDS = Phrases(
    """
    for me; for myself; it's me; i'm the one; i am the one; i'm the patient; i am the patient; i'd be the one;
    i'll be the one; i'll be attending; i would be attending; i'd be attending; my own appointment;
    it's just me; just me; just for me; only me; me that's coming; me who's coming; i'm coming alone;
    i'm booking for myself
    """
)
NOT_THE_WRITER = Phrases(
    """
    himself; herself; themselves; other half; better half; he needs; she needs; he wants; she wants;
    needs seeing; it's her appointment; it's his appointment; it's for her; it's for him; it is for her;
    it is for him; this is for her; this is for him; who's poorly; who's ill; who's unwell; who is ill;
    who is poorly; who's the patient; who is the patient; i'm his; i'm her; i'm their; i am his; i am her;
    im his; im her; for mr; for mrs; for ms; for miss; for master; not for me; isn't for me; isnt for me;
    it isn't me; not me; not the patient; only doing the typing; just typing; typing this for; typing for;
    writing for; pa to; pa for; carer for; carer of; i care for; i look after; secretary to; assistant to;
    guardian of; guardian for; support worker; writing on behalf; on behalf; booking for; booking on behalf;
    not myself; someone else; somebody else; asking for a friend; for someone
    """
)
BOTH_ATTEND = Phrases(
    """
    both of us; the two of us; two of us; for us; for us both; three of us; me and my; my wife and i;
    my wife and me; my husband and i; my husband and me; my partner and i; my mum and i; my daughter and i;
    my son and i; my sister and i; my brother and i; for me and; myself and my; and myself; each of us;
    and for me; and me; and i both; we both; we'd both
    """
)

INFORMANTS = word_set(
    """
    told said says recommended recommends referred suggested mentioned raves raved swears loves loved came went
    had has sent gave put wrote typed helped helps reckons thinks saw drive drives driving brought bring paid
    pays works used
    """
)
"""After a person: they spoke of the clinic or come along, they do not come to be seen."""

BIRTHDAYS = frozenset({"birthday", "bday", "b'day"})
WHO_QUESTIONS = Phrases(
    "which of you; who will; who would; who is it for; who is the appointment for; who's it for; who for"
)
AGE_QUESTIONS = Phrases(
    """
    how old; your age; age please; the age; what age; patient's age; their age; her age; his age; date of birth;
    your dob
    """
)

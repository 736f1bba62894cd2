"""Words that tell what an amount is. To teach the service a new one, add it to the table of its kind and reach."""

from app.pipeline.grounding.mentions import MoneyKind
from app.pipeline.grounding.text.passage import Phrases, word_set

POUND_SIGNS = frozenset({"£", "💷", "gbp", "ukp", "sterling", "stg"})
POUND_WORDS = frozenset(
    {"pound", "pounds", "quid", "gbp", "sterling", "ukp", "£", "squid", "nicker", "smackers", "sovs"}
)
PENCE_WORDS = frozenset({"p", "pence", "penny"})
FOREIGN_CODES = word_set(
    "usd us$ eur aed cad aud nzd chf sek nok dkk pln inr jpy cny hkd sgd zar kr $us dhs dh czk huf ron try thb"
)
"""Currencies when next to a number."""
FOREIGN_WORDS = word_set(
    """
    dollar dollars euro euros dirham dirhams rupee rupees yen yuan franc francs zloty zlotys złotych zł ruble
    rubles lira liras peso pesos krona kronor krone kroner shekel shekels riyal riyals rand cents bitcoin bucks
    """
)
"""Currencies wherever they stand."""
FOREIGN_POUNDS = word_set("egyptian lebanese syrian sudanese gibraltar falkland cypriot irish ep le")
"""Beside an amount in pounds: they are not sterling."""
WEIGHT = word_set("weigh weighs weighed weight lost lose gained gain heavier lighter overweight slimmed")
"""In the clause of a number of pounds they make it a weight."""
VAGUE_AMOUNTS = word_set("hundred hundreds thousand thousands grand million pounds quid monkey pony")
"""Without a number they are an amount that cannot be read."""

TRANSPARENT_BEFORE = frozenset(
    ("(", "'", '"', ".", ":", "the", "a", "an", "of", "only", "just", "my", "at", "for", "that")
)
"""Between a cue and its amount they may stand."""
TRANSPARENT_TO_BOUNDS = frozenset(("(", "'", '"', ":", "a", "an", "of", "only", "just", "at", "for"))
"""The same for bounds and estimates: "about the £400 visit" names a subject, not an estimate."""

RIGHT_BEFORE: dict[MoneyKind, Phrases] = {
    MoneyKind.CORRECTED: Phrases(
        """
        not; isn't; wasn't; never; no longer; rather than; instead of; i said; i put; i wrote
        """
    ),
    MoneyKind.RANGE: Phrases(
        """
        about; around; near; roughly; approximately; approx; approx .; circa; c; ca; from; starting at;
        starts at; starting from; between; over; under; above; below; nearly; almost; at least; at most;
        more than; less than; max; maximum; min; minimum; maybe; perhaps; probably; possibly; estimated;
        estimated at; estimate; say; within; somewhere; up to; as much as; as little as; region of;
        something like; ~; <; >; ≈; ±; or; either; in excess of; upwards of; close to; ballpark
        """
    ),
    MoneyKind.DISCOUNT: Phrases(
        """
        less; minus; discount of; discount; save; saving; saves; knocked off; reduction of; reduced by;
        taking off; take off; takes off
        """
    ),
    MoneyKind.DEPOSIT: Phrases(
        """
        first instalment; first installment; last instalment; first payment; deposit of; deposit; deposit was;
        deposit is; i paid; i've paid; ive paid; have paid; already paid; put down; paid; paid you; prepaid;
        credit note; credit of; voucher for; voucher worth; voucher; gift card; gift card for; gift card worth;
        on account; refund of; refund; refunded; owe me
        """
    ),
    MoneyKind.PAST: Phrases(
        """
        offer; my offer; offering; only do; can only do; only pay; you take; would you take; accept; deal at;
        originally; take home; takes home; used to be; used to cost; reduced from; down from; went from;
        up from; normally; usually; usual price; old price; former price; list price; rrp; previously; had been;
        struck out; last time; budget of; budget is; budget; budget's; limit of; limit is; limit; can afford;
        afford; have saved; saved; savings; earn; earning; worth; insured for; excess of; cap of; cap is; got;
        i have; i've got; spent; i spent; charged me
        """
    ),
    MoneyKind.NET: Phrases(
        """
        vat of; vat; vat is; vat at; tax of; net; net of; ex vat; ex vat it's; excluding vat;
        excluding vat it's; before vat; before vat it's; without vat; without vat it's
        """
    ),
    MoneyKind.INCLUDED: Phrases(
        """
        including; includes; included; incl; inc; of which; which includes
        """
    ),
}
"""The phrase ends right before the amount."""

RIGHT_AFTER: dict[MoneyKind, Phrases] = {
    MoneyKind.DEPOSIT: Phrases(
        """
        deposit; holding deposit; holding fee; down; upfront; up front; down payment; already; sent just now;
        transferred; has gone through; went through; already paid; is paid; paid; has been paid; was paid;
        i paid; i've paid; credit; in credit; credit note; voucher; gift card; gift voucher; on account; refund;
        which i've paid; which i paid; i already paid; i've already paid
        """
    ),
    MoneyKind.DISCOUNT: Phrases(
        """
        off; discount; reduction; cheaper; less; knocked off
        """
    ),
    MoneyKind.NET: Phrases(
        """
        plus vat; + vat; and vat; ex vat; ex . vat; exc vat; exc . vat; excl vat; excl . vat; excluding vat;
        exclusive of vat; before vat; without vat; net; net of vat; vat; of vat; plus tax; plus 20 % vat;
        + 20 % vat
        """
    ),
    MoneyKind.RANGE: Phrases(
        """
        starting price; starting; and we have a deal; or; or so; or less; or more; or thereabouts; or under;
        ish; - ish; max; maximum; tops; min; minimum; approx; approximately; roughly; onwards; upwards; odd;
        give or take; at most; at least; +/-; ±; ~; to; till; until; and up; plus or minus
        """
    ),
    MoneyKind.PAST: Phrases(
        """
        rent; fine i; saved; in savings; spare; last time; last year; last month; before; previously;
        a year ago; originally; budget; limit; or nothing; short; too much
        """
    ),
    MoneyKind.INCLUDED: Phrases(
        """
        of which; of that; of it; of this
        """
    ),
}
"""The phrase begins right after the amount."""

CLAUSE: dict[MoneyKind, Phrases] = {
    MoneyKind.DEPOSIT: Phrases(
        """
        deposit; voucher; gift card; credit note; already paid; i paid; i've paid; ive paid; have paid; we paid;
        he paid; she paid; they paid; put down; prepaid; refund; refunded; pre - paid
        """
    ),
    MoneyKind.PAST: Phrases(
        """
        last year's; last month's; last time's; old quote; was the; spent; last time; last year; last month;
        previous; previously; years ago; year ago; months ago; weeks ago; month ago; used to; budget; afford;
        savings; salary; earn; pension; insurance; insurer; insured; covers; mortgage; other clinic;
        another clinic; elsewhere; competitor; rival; down the road; round the corner; last place; other place;
        bupa; axa; aviva; vitality; friend paid; mate paid; charged me
        """
    ),
    MoneyKind.RANGE: Phrases(
        """
        between; either; somewhere; whichever; estimate; estimated; ballpark; guess; guessing; roughly;
        depending; depends; if i; if we; if you; if it; if there
        """
    ),
}
"""The phrase stands in the clause of the amount."""

HARMLESS = Phrases(
    """
    credit card; as per; off work; last name; per cent; 100 %; if that; if that's; if possible; if it's okay;
    if it's ok; if it suits; if it helps; if it matters; if you can; if you could; if you have; if you've;
    if you don't; if i may; if i can; if i could
    """
)
"""Phrases whose words would otherwise be found above or below."""

SAYS_PRICE_WAS = word_set("quote quoted price cost fee total bill estimate figure amount charge i think they")
"""Before "was": the amount is reported, not outdated."""

SUM_BEFORE = Phrases(
    """
    total; total is; total of; total :; total's; totals; totalling; totaling; totals up to; altogether;
    altogether is; altogether it's; altogether that's; overall; sum of; sum is; grand total; in all; all in;
    all together; all told; comes to; come to; came to; comes out at; comes up to; coming to; adds up to;
    add up to; adding up to; adds to; amounts to; works out at; works out to; so; so it's; so that's; so thats;
    that's; thats; that is; which is; which makes; which makes it; makes; makes it; making; making it; make; =;
    = >; equals; giving; gives; so all in; so total; i make it; i make that
    """
)
SUM_AFTER = Phrases(
    """
    altogether; total; overall; in total; in all; all in; all together; all told; combined; for everything;
    for the lot; for both; for all three; for all of it; for the whole lot; the lot; all up
    """
)
STRONG_SUM = word_set("total totals totalling altogether overall sum comes adds amounts combined equals =")
"""In the clause before an amount they announce a sum."""

EXACT = word_set("exactly final confirmed actual fixed precisely definite written")
"""Beside an amount they make it the price, whatever was estimated before."""

FINAL_BEFORE = Phrases(
    """
    now; now only; so; so it's; so that's; so i pay; to pay; to; down to; reduced to; brings it to;
    bringing it to; brings it down to; bringing it down to; makes it; making it; which makes it; leaves;
    leaving; that's; thats; =; final price; final price is; final price of; comes to; works out at; is now;
    it's now; i'd pay; i'll pay; i pay; gives; giving; off it's; off that's; off so; off makes it; off is;
    after discount; after the discount; with the discount
    """
)
"""Right before the price that is left after a discount, or that replaces a former one."""

GROSS_AFTER = Phrases(
    """
    inc vat; inc . vat; incl vat; incl . vat; including vat; inclusive of vat; with vat; vat included; vat inc;
    vat incl; after vat; including the vat; with the vat; including tax; gross; all in; including 20 % vat;
    inc 20 % vat; inclusive
    """
)
GROSS_BEFORE = Phrases(
    """
    with vat; with vat it's; with vat that's; with the vat; including vat; inc vat; incl vat; gross; so; =;
    that's; makes; making; making it; comes to; which is; total
    """
)

UNIT_AFTER = Phrases(
    """
    each; apiece; per; a month; a week; a year; a day; an hour; a session; a visit; a treatment; a vial;
    a syringe; a peel; a jab; a dose; a unit; a class; a night; a block; an item; an area; an injection; a time;
    a go; a pop; a head; a person; a piece; a knee; a side; a tooth; an eye; an implant; an appointment; every;
    every other; for every; for each; every month; every fortnight; a fortnight; each time; every session;
    every visit; each session; each visit; every week; every time; monthly; weekly; fortnightly; yearly;
    annually; hourly; daily; pp; pm; pcm; pw; pa; ph; / month; / week; / session; / hour; / visit; / mo; / hr;
    /; mo
    """
)
"""Right after an amount: it is the price of one of several."""
UNIT_BEFORE = Phrases(
    """
    each is; each costs; each at; each cost; each one is; each one costs; each session is; each session costs;
    each visit is; each one's; monthly payments of; payments of; instalments of; installments of;
    weekly payments of
    """
)

COUNTED = word_set(
    """
    sessions session treatments treatment appointments appointment visits visit consultations consultation scans
    scan courses course procedures procedure people persons person adults adult places slots rounds round
    sittings implants implant fillings filling crowns crown months month weeks week payments payment instalments
    installments hours hour knees eyes ears sides teeth hips shoulders hands feet legs arms days goes times
    peels peel injections injection check-ups checkups areas vials syringes units jabs blocks packs packages
    years items doses dose appts veneers lots bits
    """
)
"""What a quantity counts."""
PERIODS = {
    "month": frozenset({"months", "month", "payments", "instalments", "installments"}),
    "monthly": frozenset({"months", "month", "payments", "instalments", "installments"}),
    "pm": frozenset({"months", "month"}),
    "pcm": frozenset({"months", "month"}),
    "mo": frozenset({"months", "month", "mo"}),
    "week": frozenset({"weeks", "week"}),
    "weekly": frozenset({"weeks", "week", "payments"}),
    "pw": frozenset({"weeks", "week"}),
    "year": frozenset({"years", "year"}),
    "hour": frozenset({"hours", "hour", "hrs"}),
    "hourly": frozenset({"hours", "hour", "hrs"}),
    "ph": frozenset({"hours", "hour", "hrs"}),
    "day": frozenset({"days", "day"}),
    "daily": frozenset({"days", "day"}),
}
"""The unit of a price -> what its number must count."""

OPEN_ANYWHERE = Phrases(
    """
    same thing; one says; another says; different prices; two prices; which is right; which one is right;
    which price; says more; costs more; more than that; old leaflet; old price list; out of date; old brochure;
    put prices up; prices up; the increase; gone up; went up; price rise; prices rose; used to be the price;
    how much; to follow; so far; tbc; tba; tbd; same again; same for; both of us; two of us; three of us;
    four of us; me and my; my wife and i; my husband and i; my partner and i; no fixed price; prices vary;
    price varies; half price; interest; apr
    """
)
"""They reopen every price of the conversation."""

REDUCED_OR_TAXED = word_set("discount discounts discounted vat tax voucher")
"""They reopen every price, unless the text goes on to say what is left or what it comes to with them."""

OPEN_SENTENCE = Phrases(
    """
    a twelfth of; a third of; a quarter of; a tenth of; a fifth of; of the total; of the cost; of the price;
    the other half; half is; half now; my share; my half; third off; half off; quarter off; bit off;
    something off; money off; a discount; per; be confirmed; not certain; not sure; unsure; unless; depends;
    depending; another one; on top; extra; extras; twice; double; triple; several; multiple; a few; a couple;
    couple; instalment; instalments; installment; installments; monthly; weekly; fortnightly; phase; family;
    the kids; balance; outstanding; remaining; remainder; the rest; first payment; initial; fees; for students;
    what's mine; not counting; not including; excluding; except; leave out; skip; drop; half of; split; halves
    """
)
"""They reopen the prices of their sentence."""

PAID = word_set(
    """
    paid already sent transferred credit voucher gift prepaid refund refunded account through settled left gave
    put
    """
)
"""In the clause of a deposit they say that it has been paid, or counts as if."""

FREE = Phrases(
    """
    no charge; free of charge; complimentary; for free; at no cost; nothing to pay; the free; free consultation;
    free check; free check-up; free scan; free assessment; costs nothing
    """
)
"""An item that costs nothing."""

ADDS = Phrases(
    """
    and the other; and the usual; and another; and one more; and also the; and whatever; and any; plus; +;
    and also; as well as; along with; together with; with added
    """
)
"""What they add must bring its own price."""

ADDS_ANYWHERE = Phrases(
    """
    add; adding; add on; also like; also want; also need; also have
    """
)
"""The same, also in a sentence of its own."""

PRICE_CUES = word_set(
    """
    price priced prices cost costs costing fee fees quote quoted total charge charged pay paying pounds £ quid
    """
)

DROPS = Phrases(
    """
    gone off; don't want; dont want; don't need; dont need; no longer want; no longer need; leave out; drop;
    skip; without; scrap; forget; cancel; not bothered about; won't need; can leave; remove; minus
    """
)
"""Before "the second", "the scan": that item is no longer asked for."""
KEEPS = Phrases(
    """
    just; only; just want; just do; keep; stick with; stick to; go with; just go with
    """
)
"""Before "the first": the other items are no longer asked for."""

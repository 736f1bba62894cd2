"""Messages in another language: their words for facts become the English ones, offsets kept.

A language is known by its small words. To teach the service one more, add a Glossary, and messages to the tests.
A glossary also holds the words that make a fact doubtful ("environ", "pas"): without them a booking would be a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.pipeline.grounding.text.tokens import Kind, Token

_FEWEST_MARKS = 2
"""Different small words of a language that a message needs before it is read as that language."""

_ENGLISH_MARKS = frozenset(
    ["the", "and", "i'm", "is", "my", "for", "it's", "please", "at", "i", "on", "of", "to", "would", "like", "a"]
)


@dataclass(frozen=True)
class Glossary:
    marks: frozenset[str]
    """Small words that tell the language."""
    words: dict[str, str]
    """Word -> English."""
    hour_sign: str
    """Between hour and minute, or after the hour: "10h30", "14 uhr"."""


def _glossary(marks: str, words: str, hour_sign: str) -> Glossary:
    pairs = (line.split("=") for line in words.split())
    return Glossary(frozenset(marks.split()), {foreign: english for foreign, english in pairs}, hour_sign)


FRENCH = _glossary(
    "j'ai je le la les est bonjour merci pour et ans à voudrais c'est mon ma une un s'il",
    """
    j'ai=i'm j’ai=i'm ans=years an=year livres=pounds livre=pound euros=euros lundi=monday mardi=tuesday
    mercredi=wednesday jeudi=thursday vendredi=friday samedi=saturday dimanche=sunday janvier=january
    février=february fevrier=february mars=march avril=april mai=may juin=june juillet=july août=august
    aout=august septembre=september octobre=october novembre=november décembre=december decembre=december
    demain=tomorrow aujourd'hui=today hier=yesterday midi=noon minuit=midnight né=born née=born environ=about
    entre=between et=and ou=or pas=not jamais=never sauf=except plutôt=rather plutot=rather avant=before
    après=after apres=after depuis=since vers=around chaque=each par=per mois=month semaine=week semaines=weeks
    mari=husband femme=wife mère=mother mere=mother père=father pere=father fils=son fille=daughter
    frère=brother soeur=sister sœur=sister ami=friend amie=friend elle=she il=he dernière=last derniere=last
    dernier=last visite=visit était=was etait=was acompte=deposit remise=discount tva=vat matin=morning
    soir=evening séances=sessions seances=sessions séance=session seance=session deux=two trois=three
    quatre=four cinq=five six=six prochain=next prochaine=next son=his plaît=please plait=please rendez-vous=appointment
    merci=thanks désolé=sorry désolée=sorry non=no prix=price coûte=costs coute=costs à=at a=at au=at le=the
    la=the pour=for mon=my ma=my moi=me je=i c'est=it's est=is un=a une=a de=of du=of
    """,
    "h",
)
GERMAN = _glossary(
    "ich bin ist und der die das für möchte hallo danke bitte jahre mein meine uhr am",
    """
    ich=i bin=am jahre=years jahr=year alt=old pfund=pounds euro=euros montag=monday dienstag=tuesday
    mittwoch=wednesday donnerstag=thursday freitag=friday samstag=saturday sonntag=sunday januar=january
    februar=february märz=march april=april mai=may juni=june juli=july august=august september=september
    oktober=october november=november dezember=december morgen=tomorrow übermorgen=overmorrow heute=today
    gestern=yesterday mittag=noon mitternacht=midnight geboren=born etwa=about ungefähr=about zwischen=between
    und=and oder=or nicht=not kein=not nie=never außer=except lieber=rather vor=before nach=after seit=since
    gegen=around pro=per je=per monat=month woche=week wochen=weeks mann=husband frau=wife mutter=mother
    vater=father sohn=son tochter=daughter bruder=brother schwester=sister freund=friend freundin=friend sie=she
    er=he anzahlung=deposit rabatt=discount sitzungen=sessions zwei=two drei=three vier=four fünf=five
    nächsten=next nächster=next danke=thanks nein=no preis=price kostet=costs um=at für=for mein=my meine=my
    meinen=my meiner=my mich=me ist=is es=it der=the die=the das=the den=the dem=the ein=a eine=a von=of bis=to
    letzte=last letzter=last letzten=last besuch=visit war=was mwst=vat bitte=please behandlung=treatment
    termin=appointment
    """,
    "uhr",
)
SPANISH = _glossary(
    "tengo años hola gracias por para el los una quiero quisiera es y mi cita con",
    """
    tengo=i'm años=years año=year libras=pounds libra=pound euros=euros lunes=monday martes=tuesday
    miércoles=wednesday miercoles=wednesday jueves=thursday viernes=friday sábado=saturday sabado=saturday
    domingo=sunday enero=january febrero=february marzo=march abril=april mayo=may junio=june julio=july
    agosto=august septiembre=september octubre=october noviembre=november diciembre=december mañana=tomorrow
    hoy=today ayer=yesterday mediodía=noon medianoche=midnight nací=born nacido=born nacida=born unos=about
    aproximadamente=about entre=between y=and o=or no=not nunca=never excepto=except antes=before después=after
    desde=since hacia=around cada=each por=per mes=month semana=week semanas=weeks marido=husband mujer=wife
    esposa=wife madre=mother padre=father hijo=son hija=daughter hermano=brother hermana=sister amigo=friend
    amiga=friend ella=she él=he depósito=deposit descuento=discount iva=vat sesiones=sessions dos=two tres=three
    cuatro=four cinco=five próximo=next proximo=next última=last ultima=last último=last visita=visit fue=was
    era=was son=are gracias=thanks precio=price cuesta=costs a=at las=at la=at para=for mi=my es=is el=the de=of un=a
    una=a yo=i
    """,
    ":",
)
ITALIAN = _glossary(
    "ho anni ciao buongiorno grazie vorrei la il per alle una un sono costa di",
    """
    ho=i'm anni=years anno=year sterline=pounds sterlina=pound euro=euros lunedì=monday lunedi=monday
    martedì=tuesday martedi=tuesday mercoledì=wednesday mercoledi=wednesday giovedì=thursday giovedi=thursday
    venerdì=friday venerdi=friday sabato=saturday domenica=sunday gennaio=january febbraio=february marzo=march
    aprile=april maggio=may giugno=june luglio=july agosto=august settembre=september ottobre=october
    novembre=november dicembre=december domani=tomorrow oggi=today ieri=yesterday mezzogiorno=noon
    mezzanotte=midnight nato=born nata=born circa=about tra=between fra=between e=and o=or non=not mai=never
    tranne=except prima=before dopo=after dal=since verso=around ogni=each per=for mese=month settimana=week
    settimane=weeks marito=husband moglie=wife madre=mother mamma=mother padre=father papà=father figlio=son
    figlia=daughter fratello=brother sorella=sister amico=friend amica=friend lei=she lui=he acconto=deposit
    sconto=discount iva=vat sedute=sessions due=two tre=three quattro=four cinque=five prossimo=next
    prossima=next ultima=last ultimo=last visita=visit era=was grazie=thanks prezzo=price costa=costs alle=at
    mia=my mio=my è=is il=the la=the di=of un=a una=a io=i
    """,
    ":",
)
POLISH = _glossary(
    "mam lat dzień dobry proszę dziękuję wizyta za na o i w chciałbym chciałabym jest do",
    """
    mam=i'm lat=years lata=years rok=year funtów=pounds funty=pounds funt=pound euro=euros złotych=zloty
    poniedziałek=monday wtorek=tuesday środa=wednesday środę=wednesday czwartek=thursday piątek=friday
    sobota=saturday sobotę=saturday niedziela=sunday niedzielę=sunday stycznia=january lutego=february
    marca=march kwietnia=april maja=may czerwca=june lipca=july sierpnia=august września=september
    października=october listopada=november grudnia=december jutro=tomorrow dzisiaj=today dziś=today
    wczoraj=yesterday południe=noon północ=midnight urodzony=born urodzona=born około=about między=between i=and
    lub=or albo=or nie=not nigdy=never oprócz=except przed=before po=after od=since każda=each miesiąc=month
    tydzień=week tygodnie=weeks mąż=husband męża=husband żona=wife żony=wife matka=mother mama=mum mamy=mum
    ojciec=father tata=dad syn=son syna=son córka=daughter córki=daughter brat=brother siostra=sister ona=she
    on=he zaliczka=deposit rabat=discount vat=vat wizyty=visits dwie=two dwa=two trzy=three cztery=four
    pięć=five następny=next dziękuję=thanks cena=price kosztuje=costs godzinie=at godzina=at o=at za=for dla=for
    mój=my moja=my moją=my jest=is proszę=please poproszę=please
    """,
    ":",
)
GLOSSARIES = (FRENCH, GERMAN, SPANISH, ITALIAN, POLISH)


def find_glossary(tokens: Sequence[Token]) -> Glossary | None:
    """Of the language of the text; None for English and for a language that is not known."""
    words = {token.text for token in tokens}
    english = len(words & _ENGLISH_MARKS)
    best = max(GLOSSARIES, key=lambda glossary: len(words & glossary.marks))
    marks = len(words & best.marks)
    return best if marks >= _FEWEST_MARKS and marks > english else None


def into_english(tokens: Sequence[Token], glossary: Glossary) -> list[Token]:
    return _joined_hours(_translated(tokens, glossary), glossary.hour_sign)


def with_plain_hours(tokens: list[Token]) -> list[Token]:
    """ "14h15" in any language."""
    has_any = any(token.glued and token.text[:1] == "h" and token.text[1:].isdecimal() for token in tokens)
    return _joined_hours(tokens, "h") if has_any else tokens


def _translated(tokens: Sequence[Token], glossary: Glossary) -> list[Token]:
    translated = []
    for index, token in enumerate(tokens):
        text = glossary.words.get(token.text, token.text) if token.kind is Kind.WORD else token.text
        if token.text == "mañana" and index and tokens[index - 1].text == "la":
            text = "morning"  # "a las 11 de la mañana"
        translated.append(token._replace(text=text))
    return translated


def _joined_hours(tokens: list[Token], sign: str) -> list[Token]:
    """ "10h30" and "14 Uhr" become one number on a clock face."""
    joined: list[Token] = []
    for token in tokens:
        hour = joined[-1] if joined else None
        is_hour = hour is not None and hour.kind is Kind.NUMBER and hour.text.isdecimal() and len(hour.text) <= 2
        minutes = token.text.removeprefix(sign)
        is_sign = token.kind is Kind.WORD and token.text.startswith(sign) and (minutes == "" or minutes.isdecimal())
        if hour is not None and is_hour and is_sign and (token.glued or minutes == ""):
            joined[-1] = hour._replace(text=f"{hour.text}:{minutes or '00'}", end=token.end)
        else:
            joined.append(token)
    return joined

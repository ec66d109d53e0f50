"""One form for the forms of an English word: "cards" is card, "changing" is change, "declined" is decline~.

Only what is sure is undone: the plural, and the endings of verbs that are known. What was done to a thing is not what
the thing does, so a past or a participle keeps a mark.
"""

from __future__ import annotations

import functools

from gateway.gates._text import each

PAST = "~"

VERBS = frozenset(
    each(
        """
        abandon accept access achieve acquire activate add adjust admit adopt advertise advise affect agree allow
        amend analyze announce answer appeal appear apply approve arrange arrest arrive ask assemble assess assign
        assist attach attack attend authorize avoid backup bake bill blame block boil book boost borrow breathe browse
        brush build burn calculate call cancel care carry cause celebrate challenge change charge chase check choose
        claim clean clear click climb close code collect combine come commit communicate compare complain complete
        compress compute confirm connect consider consult contact contain continue contribute control convert cook
        copy correct cost count cover crash create cross cure customize damage dance deactivate deal debit decide
        decline decorate decrease decrypt deduct define delay delete deliver deny depend deposit describe deserve
        design destroy detect determine develop die disable disagree disappear disappoint discharge disconnect
        discover discuss dispute dissolve divide download drain draw dream dress drink drive drop dry earn eat edit
        eject eliminate email employ enable encourage encrypt end engage enjoy enroll ensure enter erase escape
        establish estimate evaluate examine exceed exchange exclude execute exercise exit expand expect expire explain
        export expose express extend extract face fail fall fasten fear feed feel file fill filter find finish fit fix
        flash flip float flow fly focus fold follow force forget form format freeze fry function fund gain gather
        generate get give go grant grow guarantee guess guide hack handle hang happen hate have head heal hear heat help
        hide highlight hire hit hold hope host hunt identify ignore implement import improve include increase indicate
        infect influence inform initialize inject insert inspect inspire install insure integrate intend interact
        interest interview introduce invade invent invest investigate invite involve iron issue join joke jump keep
        kick kill knock know label land last laugh launch lead leak learn lease leave lend let license lift like limit
        link list listen live load locate lock log look lose love lower maintain make manage manufacture mark marry
        match matter mean measure meet melt mention merge miss mix modify monitor mount move multiply mute need
        negotiate notice notify number obtain occur offer open operate orbit order organize own pack paint park
        participate pass paste pause pay perform permit pick place plan plant play point post pour practice predict
        prefer prepare prescribe present press prevent print process produce program promise promote pronounce propose
        protect prove provide publish pull purchase push put qualify question quit raise reach react read rebook
        receive recharge recognize recommend record recover recycle redeem reduce refer refill refinance refresh
        refund refuse register reject relate release rely remain remember remind remove rename renew rent repair repay
        repeat replace reply report represent request require reschedule rescue reserve reset resign resolve respond
        restart restore restrict result resume retire retrieve return reuse reveal reverse review revise revoke reward
        ride ring rinse rise roll rotate ruin run sail save say scan schedule score search secure see seek select sell
        send separate serve set settle shake share shave ship shoot shop show shut sign sing sit skip sleep slide slow
        smell smoke solve sort sound speak specify spell spend split spread stand start state stay steal stick stop
        store stream stretch study submit subscribe subtract succeed suffer suggest sue suit supply support suppose
        surf survive suspect suspend swap swim switch sync take talk taste teach tell terminate test text thank think
        threaten throw tie top touch track trade train transfer translate transport travel treat trigger trim trust
        try turn type unblock buy begin fight understand unfreeze uninstall unlink unlock unmute unsubscribe unzip
        update upgrade upload urge use validate vary verify view visit vote wait wake walk want warn wash waste watch
        water wear weigh win wipe wire wish withdraw wonder work worry wrap write zip zoom activate reactivate dispose
        download
        """
    )
)
_DOUBLED = frozenset(
    each(
        """
        b d g k l m n p r t
        """
    )
)

# Forms that no rule makes. A past form has its mark; "read", "put" and their like are what they are.
_IRREGULAR = {
    **{
        form: base + PAST
        for base, forms in {
            "become": "became",
            "begin": "began begun",
            "bite": "bit bitten",
            "break": "broke broken",
            "bring": "brought",
            "build": "built",
            "buy": "bought",
            "catch": "caught",
            "choose": "chose chosen",
            "come": "came",
            "deal": "dealt",
            "draw": "drew drawn",
            "drink": "drank drunk",
            "drive": "drove driven",
            "eat": "ate eaten",
            "fall": "fell fallen",
            "feed": "fed",
            "feel": "felt",
            "fight": "fought",
            "find": "found",
            "fly": "flew flown",
            "forget": "forgot forgotten",
            "freeze": "froze frozen",
            "give": "gave given",
            "go": "went gone",
            "grow": "grew grown",
            "hear": "heard",
            "hide": "hid hidden",
            "hold": "held",
            "keep": "kept",
            "know": "knew known",
            "lead": "led",
            "learn": "learnt",
            "leave": "left",
            "lend": "lent",
            "lose": "lost",
            "make": "made",
            "mean": "meant",
            "meet": "met",
            "pay": "paid",
            "ride": "rode ridden",
            "ring": "rang rung",
            "rise": "rose risen",
            "run": "ran",
            "say": "said",
            "see": "saw seen",
            "sell": "sold",
            "send": "sent",
            "shake": "shook shaken",
            "shoot": "shot",
            "sing": "sang sung",
            "sit": "sat",
            "sleep": "slept",
            "speak": "spoke spoken",
            "spend": "spent",
            "stand": "stood",
            "steal": "stole stolen",
            "swim": "swam swum",
            "take": "took taken",
            "teach": "taught",
            "tell": "told",
            "think": "thought",
            "throw": "threw thrown",
            "understand": "understood",
            "wake": "woke woken",
            "wear": "wore worn",
            "win": "won",
            "withdraw": "withdrew withdrawn",
            "write": "wrote written",
        }.items()
        for form in forms.split()
    },
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "children": "child",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "wives": "wife",
    "lives": "life",
    "knives": "knife",
    "leaves": "leaf",
    "shelves": "shelf",
    "halves": "half",
    "criteria": "criterion",
    "cookies": "cookie",
    "movies": "movie",
    "calories": "calorie",
    "selfies": "selfie",
    "ties": "tie",
    "shoes": "shoe",
    "does": "does",
    "goes": "go",
}
# Words that end like a plural and are none, or mean something else without their s.
_AS_IT_IS = frozenset(
    each(
        """
        parking beginning building meeting training landing painting drawing feeling dressing lighting setting booking
        clothing housing mining nursing coating spring string thing news goods clothes customs arms means species
        series physics economics mathematics politics savings glasses always yes gas bus plus less its us is was has
        does this thus as ios aws dns gps sms vs bonus status virus focus campus corpus census lens canvas christmas
        basis crisis analysis thesis tennis diabetes rabies measles atlas alias bias chaos texas kansas paris athens
        dallas swiss perhaps overseas besides sometimes afterwards towards nowadays headquarters hers ours yours
        theirs windows jobs mars venus jesus james charles analytics electronics statistics athletics sales los las
        times premises proceeds remains contents spirits
        """
    )
)


@functools.lru_cache(maxsize=8192)
def lemma(word: str) -> str:
    """The form under which a word is known to all gates."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word in _AS_IT_IS or word in VERBS:
        return word
    if word.endswith("ing"):
        return _verb(word[:-3]) or word
    if word.endswith("ed"):
        base = _verb(word[:-2])
        return base + PAST if base else word
    if word.endswith("s"):
        return _singular(word)
    return word


def _verb(stem: str) -> str | None:
    """The known verb whose form without its ending this is."""
    guesses = [stem, stem + "e"]
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] in _DOUBLED:
        guesses.append(stem[:-1])
    if stem.endswith("i"):
        guesses.append(stem[:-1] + "y")
    return next((guess for guess in guesses if guess in VERBS), None)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith(("ss", "us", "is")):
        return word
    return word[:-1]

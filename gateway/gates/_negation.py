"""Negation: whatever says no is one `not`, and two questions must have equally many.

A word that only looks like a negation ("不锈钢", "nothing but", "noted") is a word of its own: _whole.py has the
Chinese ones, and English words are read whole.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.gates._lemma import lemma
from gateway.gates._rows import Table, key, rows, words
from gateway.gates._text import Token, Tokens

NOT = Token("negation", "not")
MAY = Token("aux", "may")
_BEHIND = Token("behind", "不了")  # it stands behind what can't be done

_PARTS: Mapping[str, Token] = {
    "not": NOT,
    "may": MAY,
    "must": Token("aux", "must"),
    "should": Token("aux", "should"),
    "whether": Token("aux", "whether"),
    "why": Token("wh", "why"),
    "behind": _BEHIND,
}

# What a phrase says, and the phrases. "不得不" says no twice and means must; "能不能" only asks.
_SAID = """
not | not, no, none, nor, neither, hardly, scarcely, barely, no longer, not yet, not any, not at all, don, doesn, isn
not | fail to
not | 不, 没, 没有, 无, 未, 非, 毫无, 并非, 并不, 并没有, 未曾, 从未, 从不, 尚未, 还没, 还没有, 还未, 绝不, 决不, 毫不
not | 不再, 不曾, 不是, 而非
not may | 不能, 不可以, 不可, 无法, 没法, 不能够, 没办法, 不得, 不准, 不许, 不让
not may | can not, could not, unable, unable to, not able to, not be able to, incapable of
not may 禁止 | 禁止, 严禁
not must | 不必, 无需, 无须, 毋须, 不用, 不需要, 不需, 没必要, 不须, 用不着, need not, not need to, not need
not must | not have to
not should | 不要, 不应该, 不应, 不应当, 不该, 别, 勿, 请勿, 切勿, 莫, 千万别, 甭, must not, should not, ought not to
not nobody | nobody, no one
not nothing | nothing
not nowhere | nowhere
not never | never
must | 不得不, 不能不, 不可不, 非得, 必须得, 免不了, 少不了, cannot but, can not but, can not help but
must | 要不要, 用不用, 需不需要, 是否需要, 是否要, 需要不需要, 是不是要, 是不是需要, 是不是必须
should | 该不该, 应不应该, 应该不应该, 是否应该, 是否应当, 是不是应该
may | 能不能, 可不可以, 可不可, 能否, 可否, 能不能够, 是否可以, 是否能, 是否能够, 让不让, 许不许, 是不是可以, 是不是能
whether | 是不是, 有没有, 会不会, 行不行, 好不好, 对不对, 是否, 有无, 算不算, 了没有, 了没, 过没有, 与否
whether | whether or not, whether
why not | why not
only | nothing but, 无非, 只不过
 | not only, no matter, no doubt, no problem, no worry, i do not know, i am not sure, not sure
 | 不好意思, 不知道, 不知, 不晓得, 不清楚, 不明白, 不太清楚, 不太懂, 不懂
behind | 不了, 不上
"""
# An English word that denies another: "unavailable" says what "not available" says.
_DENIED = """
unavailable available, ineligible eligible, invalid valid, inactive active, inaccessible accessible,
incorrect correct, incomplete complete, unofficial official, unauthorized authorized, unregistered registered,
unverified verified, unpaid paid, unused used, unread read, unlisted listed, unlimited limited, unsafe safe,
unhealthy healthy, unfair fair, unlawful lawful, illegal legal, illegitimate legitimate, irregular regular,
unreliable reliable, irrelevant relevant, impossible possible, improper proper, impatient patient, immature mature,
insecure secure, insufficient sufficient, inappropriate appropriate, nonrefundable refundable
insecure secure, non refundable refundable
nontaxable taxable, non taxable taxable, unemployed employed, unmarried married, uninsured insured,
unsigned signed, unopened opened, unpopular popular, uncommon common, unusual usual, unlikely likely,
unnecessary necessary, unsuccessful successful, unknown known, unwanted wanted, uncertain certain, unclear clear,
unlike like, untaxed taxed, unsuitable suitable, incompatible compatible, dissatisfied satisfied, disallowed allowed,
undelivered delivered, unreachable reachable, uncertified certified, unconfirmed confirmed, unprotected protected,
unsupported supported, nonsmoking smoking, non smoking smoking, unvaccinated vaccinated, non resident resident,
nonresident resident, unrecognized recognized, unprocessed processed, unfinished finished, unresolved resolved
"""


def _said() -> Table:
    found = {}
    for line in _SAID.strip().splitlines():
        said, _, phrases = line.partition("|")
        tokens = tuple(_PARTS.get(part, Token("content", part)) for part in said.split())
        found.update(dict.fromkeys(words(phrases), tokens))
    return found


def _denied() -> Table:
    pairs = [pair.rpartition(" ") for sides in rows(_DENIED) for side in sides for pair in side]
    return {key(word): (NOT, Token("content", lemma(base))) for word, _, base in pairs}


TABLE: Table = {**_denied(), **_said()}


def fronted(tokens: Tokens) -> Tokens:
    """The tokens with each denial before what it denies: "登录不了" says what "无法登录" says."""
    found: list[Token] = []
    for token in tokens:
        if token == _BEHIND:
            found[-1:] = [NOT, MAY, *found[-1:]]
        else:
            found.append(token)
    return found

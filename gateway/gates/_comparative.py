"""Comparison: more or less, at least or at most, the highest or the lowest. Each side is one token."""

from __future__ import annotations

from gateway.gates._rows import Table, table

PAIRS = """
more than, greater than, larger than, bigger than, higher than, over and above, exceeding | less than
more than | less than, fewer than, smaller than, lower than
at least, no less than, no fewer than, not less than, minimum of | at most
at least | at most, no more than, not more than, up to, maximum of
more | less, fewer
most | least, fewest
better | worse
best | worst
higher | lower in rank
highest | lowest
bigger, larger, greater | smaller
biggest, largest, greatest | smallest
longer | shorter
longest | shortest
older, elder | younger
oldest, eldest | youngest
newer | more dated
newest | most dated
earlier, sooner | later
earliest, soonest | latest of all
faster, quicker | slower
fastest, quickest | slowest
cheaper, less expensive | dearer, more expensive
cheapest, least expensive | dearest, most expensive, priciest
heavier | lighter
heaviest | lightest
stronger | weaker
strongest | weakest
harder, more difficult, tougher | easier, simpler, less difficult
hardest, most difficult, toughest | easiest, simplest, least difficult
nearer, closer | farther, further
nearest, closest | farthest, furthest
hotter, warmer | colder, cooler
hottest, warmest | coldest, coolest
taller | lower in height
tallest | lowest in height
richer | poorer
richest | poorest
safer | riskier, more dangerous
safest | riskiest, most dangerous
thicker | thinner
thickest | thinnest
wider | narrower
deeper | shallower
brighter | darker
louder | quieter
smarter | dumber
happier | sadder
healthier | less healthy
more complicated, more complex | less complicated
as good as | inferior to
equal to, same as, as much as, as many as | different from, other than
exactly, precisely | approximately, roughly, around, about
than | as
majority | minority
double, twice as | half as
不低于, 不小于, 不少于, 大于等于 | 不高于, 不超过, 不大于, 不多于, 小于等于
超过, 大于, 高于, 多于 | 小于, 低于, 少于, 不足, 不到, 未满
至少, 起码 | 至多, 顶多
最多 | 最少
最高 | 最低
以上, 之上 | 以下, 之下
以内, 之内 | 以外, 之外
早于 | 晚于
优于 | 劣于, 不如
等于, 一样, 相同, 相等, 同样 | 不同, 不一样
正好, 刚好, 恰好 | 大约, 大概, 左右, 约
最 | 较
更, 更加, 比较 | 更不
比, 相比, 比起 | 好比
越来越 | 越发
越 | 愈
翻倍, 加倍 | 减半
大多数, 大部分, 多数 | 少数, 小部分
最大, 最大的 | 最小
最好, 最佳 | 最差, 最坏
最近 | 最远
最早 | 最晚
最新 | 最旧
最快 | 最慢
最长 | 最短
最贵 | 最便宜
最强 | 最弱
最难 | 最容易, 最简单
"""

TABLE: Table = table("comparative", PAIRS)

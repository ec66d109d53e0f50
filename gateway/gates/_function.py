"""Words that carry a sentence and not its meaning: they may come and go. Prepositions that tell who did what stay."""

from __future__ import annotations

from gateway.gates._rows import Table, words
from gateway.gates._text import Token

_SILENT = """
of, in, on, at, into, onto, upon, and, so, there, it, its, itself, that, this, these, those
be, been, being, now, right now, currently, at moment
i, myself, we, ourselves, for me, for us
please, kindly, pls, plz, thanks, thank you, thank you very much, thanks a lot, thank you so much, sir, madam, excuse me
really, actually, simply, basically, very, quite, 's, also, as well, considered
的, 了, 啊, 呀, 呢, 吧, 嘛, 哦, 噢, 么, 啦, 咯, 嗯, 个, 件事, 是, 就是, 的是, 在, 就, 也, 和, 与, 及, 以及, 跟, 把, 将
会, 来, 一下, 一下子
请, 麻烦, 您好, 你好, 谢谢, 多谢, 感谢, 非常感谢, 劳驾, 拜托, 帮忙, 帮我, 帮, 请帮我, 给我, 为我, 如果, 要是, 假如, 的话
自己, 这, 这个, 那, 那个, 那么, 这么, 这样, 那样, 其, 它, 有, 具体, 到底, 究竟, 其实, 真的, 目前, 现在, 当前, 正在
进行, 办理, 办, 操作, 做, 弄, 搞, 实现, 流程, 步骤, 方法, 方式, 办法, 信息, 情况, 时候, 才, 才能, 里面的, 里的, 上的
一个, 一种, 一些, 某个, 相关, 相应, 们, 非常, 特别, 十分
"""

# Whose it is says nothing in "how do I change my address", but much in "what is my limit".
_MINE = "my, my own, mine, our, ours, 我的, 我们的, 咱们的, 我自己的, 本人的"
_ME = "我, 我们, 咱, 咱们, 本人"

TABLE: Table = {
    **dict.fromkeys(words(_SILENT), ()),
    **dict.fromkeys(words(_MINE), (Token("self", "my"),)),
    **dict.fromkeys(words(_ME), (Token("self", "me"),)),
}

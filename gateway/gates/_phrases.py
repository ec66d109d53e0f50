"""How questions begin and what they ask with, in whole phrases. Articles are gone before English ones are looked for.

In the tables of question words the first word of a row is what the others say too; a long row goes on in the next one.
"""

from __future__ import annotations

# Phrases at the start of an English question that say nothing but that something is asked or wanted.
FRAMES_EN = """
can you tell me, could you tell me, can you please tell me, could you please tell me, would you tell me, please tell me
tell me, tell us, can someone tell me, can anyone tell me, could someone tell me, let me know, please let me know
will you tell me, i want to know, i would like to know, i need to know, just want to know, i just want to know
i was wondering, i am wondering, i wonder, wondering, do you know, do you happen to know, any idea, any idea on
does anyone know, does anybody know, i would like to ask, i want to ask
may i know, may i ask, can i ask, can i know, i have question, i have question about, quick question, just curious
i am curious, could you please help me, can you please help me, could you help me, can you help me, please help me
help me, help me to, could you please, can you please, would you please, would you mind
show, show me, can you show me, can you show, could you show me, please show me, will you show me
i want to, i would like to, i am trying to, i am looking to, i wish to, i need to, i am planning to, i would love to
i have to, want to, trying to, looking to, thanks
so, well, ok, okay, hello, hello there, hi, hi there, hey, hey there, please, also, and, but, dear
"""

WANTS_EN = "i want, i would like, i need"
EXPLAINS_EN = """
can you explain to me, can you explain, could you explain, please explain, explain to me, explain, can you describe
please describe, describe, define, please define, can you define, what is meaning of, what is definition of
"""

# The same for a Chinese one; they are taken off before the text is cut into words.
FRAMES_ZH = """
请问, 请问一下, 问一下, 问下, 我想问, 我想问下, 我想问一下, 想问一下, 想问下, 想问, 想请问, 想请教, 请教, 请教一下
我想知道, 想知道, 我要知道, 告诉我, 请告诉我, 能告诉我, 能不能告诉我, 可以告诉我, 可以告诉我吗, 你能告诉我, 你能告诉我吗
咨询一下, 咨询下, 请解释一下, 请解释, 解释一下, 解释下, 介绍一下, 请介绍, 请介绍一下, 给我介绍一下, 介绍下, 请说明
咨询一下, 说明一下
谁知道, 有人知道, 有谁知道, 你知道, 您知道, 麻烦问下, 麻烦问一下, 麻烦问, 麻烦, 帮忙看下, 求问, 求助, 帮我看看
谁知道, 帮我查一下
帮我查查, 请帮我, 麻烦帮我, 帮我, 那么, 查询一下, 查一下, 查下, 查看一下
"""
# What one wishes, wherever one says it.
WISHES_ZH = "我想, 我要, 我想要, 我打算, 我准备, 想要, 打算"
# What one says before a comma.
FILLERS_ZH = "你好, 您好, 好的, 好吧, 好啊, 好, 嗯嗯, 嗯, 嗯呢, 哦, 是吗, 没关系, 收到, 谢谢, 可以啊, 太好了, 在吗, 亲"

WH = """
how, how to, how do i go about, what is best way to, what is way to, what are way to, what is right way to
how, what is proper way to, best way to, way to, what is process for, what is process to, what is process of
how, what is procedure for, what is procedure to, what are step to, what are step for, step to, guide to
how, what do i have to do to, what do i need to do to, what should i do to, what must i do to
how, 怎么, 如何, 怎样, 怎么样, 怎样才能, 怎么才能, 如何才能, 咋, 该怎么, 应该怎么, 应该如何, 该如何, 要怎么, 需要怎么
how, 怎么做, 怎么做到, 怎么操作, 如何操作, 怎样操作, 怎么办理, 如何办理, 怎么弄, 咋弄, 怎么搞, 怎么进行, 如何进行
why, how come, what is reason, what is reason for, for what reason, what is cause of
why, 为什么, 为何, 为啥, 为什么会, 怎么会, 什么原因, 是什么原因, 怎么回事, 是怎么回事, 原因是什么, 什么情况, 干嘛
why, 凭什么
when, what time, at what time, on what date, what date, what day, on what day
when, 什么时候, 何时, 几时, 啥时候, 什么时间, 几点, 几点钟, 哪天, 哪一天, 几号, 哪年, 哪一年
when, 多久能, 多久可以, 多久才能, 多久会, 多长时间能, 几天能, 几天可以, 多久才会, 多久才
where, in which place, at which place
where, 哪里, 哪儿, 在哪, 在哪里, 在哪儿, 何处, 什么地方, 在什么地方, 去哪, 去哪里, 去哪儿, 哪边
from_where, where from, 从哪里, 从哪儿, 来自哪里
who, whom, 谁, 哪位, 什么人, 是谁
whose, 谁的
what, which, what kind of, which kind of, what type of, what sort of, what is meaning of, what is definition of
what, meaning of, definition of
what, 什么, 啥, 哪个, 哪些, 哪种, 哪一个, 哪款, 哪, 哪家, 哪一家, 哪只, 哪辆, 哪条, 哪路, 是什么, 是哪个, 是哪些
what, 是什么意思, 什么意思, 的意思, 的意思是什么, 是指什么, 指什么, 的含义, 的含义是什么, 含义是什么, 的定义是什么
how_much, how much, how much is, how much do, how much does, how much are, how much do it cost to, price of, cost of
how_much, what is price of, what is cost of, what is price for, what is cost for, what are price of, what are price for
how_much, 多少钱, 什么价格, 什么价, 价格多少, 价格是多少, 的价格是多少, 价格, 的价格, 费用多少, 费用是多少, 多少费用
how_much, 要多少钱, 需要多少钱, 收多少钱, 卖多少钱, 几块钱, 多少元
how_many, how many, what is number of, number of, 多少, 几个, 几, 有几, 有多少, 多少个
how_long, how long, how much time, what is duration of
how_long, 多久, 多长时间, 要多久, 需要多久, 多长, 几天, 几年, 几个月, 几小时, 几分钟, 要几天, 需要几天
how_often, how often, how frequently, 隔多久, 多久一次, 多长时间一次
how_far, how far, 多远
how_old, how old, 多大年纪, 几岁, 多大岁数
how_big, how big, how large, 多大
how_tall, how tall, how high, 多高
how_fast, how fast, 多快
how_heavy, how heavy, 多重
how_is, how is, how are, 怎样啊, 什么样子, 什么样了, 什么样, 什么样的, 是什么样, 是什么样的
remedy, what should i do, what do i do, what can i do, what to do, what must i do
remedy, 怎么办, 怎么处理, 怎么解决, 如何处理, 如何解决, 该怎么办, 咋办, 怎样处理, 怎样解决, 应该怎么办, 要怎么办
remedy, 怎么应对
"""

# Behind these stands what "是什么" asks for when it stands before.
COPULAS = """
what, 什么是, 什么叫, 何为, 何谓, 啥是, 啥叫, 哪些是, 哪个是
who, 谁是
"""

# Of these "有什么区别" asks what "区别是什么" asks; of anything else it asks which there are.
ASPECTS = """
区别 差别 差异 不同 副作用 好处 坏处 优点 缺点 优势 劣势 特点 特征 症状 功能 功效 作用 影响 条件 要求 优惠 权益
意义 用途 关系 风险 危害 后果
"""
THERE = "is there, are there, is there any, are there any"
HAVING = "can i have, may i have, could i have"
DOING = "做什么, 干什么, 做些什么, 做啥"
LISTED = "有什么, 有哪些, 都有哪些, 都有什么"

WHETHER = """
is, are, am, do, does
whether, 吗, 对吗, 是吗
may, can, could, might, be able to, am able to, is able to, are able to, able to, am i able to, possible to
may, is it possible to, is it possible, is there way to, is there any way to, am i allowed to, is it allowed to
may, is it okay to, is it ok to, is it permitted to, 可以, 能, 能够, 可, 可以吗, 行吗, 可行吗
will, would, shall, going to, is going to, are going to, am going to
should, ought to, had better, is it advisable to, 应该, 应当, 应, 该
must, need, need to, have to, has to, do i need to, do i have to, required to, is it necessary to, do i need
must, needed, required, is it required to, 需要, 必须, 要, 须, 需, 务必, 一定要
"""

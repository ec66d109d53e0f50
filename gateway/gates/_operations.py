"""Things that one does to one's order, account or device: a Chinese question may name the thing before or behind them.

Of none of these could the thing itself be the doer, so "密码怎么重置" asks what "怎么重置密码" asks; but where somebody
stands beside them, who could be the doer, the order of the words tells who it is.
"""

from __future__ import annotations

from gateway.gates._text import each

OPERATIONS = frozenset(
    each(
        """
        重置 重启 取消 修改 更换 更新 升级 降级 变更 申请 退款 退货 换货 退换 退订 退还 查询 查看 查 打印 导出 导入
        上传 下载 安装 卸载 打开 关闭 开启 停用 启用 开通 激活 注销 登录 登出 注册 绑定 解绑 冻结 解冻 锁定 解锁 挂失
        补办 续费 续签 充值 提现 缴费 缴纳 交 缴 付款 支付 结算 报销 报税 报名 预约 预订 下单 发货 收货 到账 提取 领取
        使用 用 设置 设定 调整 删除 添加 隐藏 显示 恢复 备份 同步 连接 断开 清理 清洗 清除 去除 维修 修 煮 炒 炖 蒸 洗
        截图 录屏 拍照 扫码 投屏 翻译 计算 算 开发票 开具 写 填写 填 提交 审核 认证 验证 验收 兑换 赎回 买入 卖出 买
        卖 存 取 还款 还 借 分期 提前还款 投保 理赔 退保 转入 转出 转账 降低 提高 减少 增加 加入 退出 加 删 改 换 调
        联系 找回 丢失 忘记 丢 忘 坏 坏了 过期 到期 失效 发放 生效 保存 收藏 分享 屏蔽 拉黑 静音 置顶 撤回 撤销 签
        签约 解约
        """
    )
)

# Whoever could do it or have it done to them.
ACTORS = frozenset(
    each(
        """
        你 您 你们 您们 贵司 他 她 他们 她们 它们 人 谁 别人 客户 用户 顾客 卖家 买家 商家 店家 房东 租客 老板 员工
        公司 企业 单位 银行 医生 病人 护士 老师 学生 家长 父亲 母亲 爸爸 妈妈 儿子 女儿 孩子 儿童 成人 老人 丈夫 妻子
        男 女 朋友 同事 法院 警察 政府 税务局 保险公司 中介 甲方 乙方 原告 被告 债权人 债务人 猫 狗 平台 主播 粉丝
        投资者 经纪人 借款人 贷款人 担保人 监护人 司机 乘客 快递员 骑手 个人 机构
        """
    )
)
# Words that tell directions: beside them every word must stand where it stood.
ARROWS = frozenset(
    each(
        """
        from 从 到 至 往 向 给 对 被 由 让 比 换 转 换成 转成 变成 翻译成 by than before after 之前 之后 先 再 then or
        或 不如 转换 me
        """
    )
)

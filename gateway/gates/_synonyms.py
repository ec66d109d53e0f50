"""Words that say the same wherever they stand in a question. Few and sure: a wrong row here serves a wrong answer."""

from __future__ import annotations

from gateway.gates import _synonyms_zh
from gateway.gates._rows import Table, table

_EN = """
change, modify, edit, alter
update
cancel, cancellation, call off
reset
refund, money back
shipping, delivery, ship, deliver
package, parcel
phone, telephone
cell phone, mobile phone, cellphone, smartphone, mobile number phone
phone number, telephone number, contact number
tv, television
laptop, notebook computer
computer, pc
photo, picture, photograph
email, electronic mail, mail address email
customer service, customer support, support team, customer care
atm, cash machine, cashpoint
invoice
promo code, promotion code, coupon code, discount code, promotional code, voucher code
credit card
fee, charge fee
price
fix, repair, mend
reserve, reservation, book
track, trace
contact, reach out to, get in touch with, get hold of
apply for, application for
look for, find, locate, search for
pick, choose, select
require, requirement
use, using, utilize, make use of, usage
create, make new, set up
set up account, create account, open account
statement, bank statement
payment, make payment
pay
complain, make complaint, file complaint
start up, boot, boot up
restart, reboot
movie, film
car, automobile
kid's, child's
gasoline, petrol
elevator, lift
vacation, holiday trip
lawyer, attorney
sick, ill
nearby, near me, close to me, around here, near here, in my area
warranty period, length of warranty
illness, disease
medicine, medication
united states, usa, us of america, us
united kingdom, uk, great britain
screen shot, screenshot
user name, username
log file, logfile
two factor authentication, two step verification, two factor
auto renewal, automatic renewal, autorenewal
sign in page, login page
get, obtain
look at
look into
look in
call on
call in
put on
put in
get on
get in
take on
take in
go on
go in
come on
come in
hang on
work on
work in
turn in
turn into
fill in, fill out
break in, break into
live on
run on
run into
on sale
on fire
on call
at risk
in debt
in stock
in person
in advance
in cash
on credit
at once, immediately, right away
at all
sim, sim card
happen, occur, will happen, would happen
also known as, aka
difference, distinction
difference between, distinction between, differ
approximately how many, roughly how many
take place, be held
located, situated
suggest, recommend
assist, help
quit smoking, stop smoking
you have, do you have, do you have any, do you offer, do you offer any, you offer
bike, bicycle
grocery store, supermarket
your company, your store, your service
"""

TABLE: Table = {**table("content", _EN), **table("content", _synonyms_zh.ROWS)}

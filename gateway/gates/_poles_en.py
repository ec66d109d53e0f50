"""English words that turn a question round. One pair a row; the words of a side say the same."""

from __future__ import annotations

PAIRS = """
turn on, switch on, enable | turn off, switch off, disable
activate | deactivate
power on | power off
open | close
reopen | reclose
buy, purchase | sell
increase, raise, boost | decrease, reduce, lower
expand budget | cut
rise | fall, drop
with | without
allow, permit | forbid, prohibit, ban, disallow
allowed, permitted | forbidden, prohibited, banned
grant | deny
before, prior to | after
start, begin | stop, halt
beginning | end
launch | terminate
deposit | withdraw, withdrawal
import | export
log in, login, sign in, log on, log into, sign into | log out, logout, sign out, log off, sign off
check in, checkin | check out, checkout
register, sign up, registration | unregister, deregister
enroll, enrol | unenroll
opt in | opt out
mute, silence | unmute
block | unblock
lock | unlock
install | uninstall
subscribe, subscription | unsubscribe
zip, compress | unzip, decompress, extract
follow | unfollow
link, pair | unlink, unpair
bind | unbind
freeze | unfreeze, thaw
archive | unarchive
pin | unpin
hide | show, unhide, reveal, display
add, append | remove, get rid of
undelete | delete, erase
upload | download
send | receive
lend | borrow
give | take
push | pull
encrypt, encryption | decrypt, decryption
encode, encoding | decode, decoding
lengthen | shorten
extend, prolong | curtail
accept | refuse, reject, decline, turn down
accepted | refused, rejected, declined
approve, approval | disapprove, rejection
agree | disagree
appear | disappear
connect, connection | disconnect, disconnection
attach | detach
mount | unmount
load | unload
pack | unpack
fold | unfold
wrap | unwrap
tie | untie
fasten | unfasten
plug in | unplug
expand, enlarge, zoom in, magnify | collapse, shrink, zoom out, minify
maximize | minimize
speed up, accelerate | slow down, decelerate
go up | go down
went up | went down
up | down
in front of | behind
inside | outside
indoor, indoors | outdoor, outdoors
inner | outer
interior | exterior
internal, internally | external, externally
domestic | international
at home | abroad, overseas
online | offline
left | right
top | bottom
front | back, rear
first | last, latest, final
upper | lower part
north, northern | south, southern
east, eastern | west, western
male | female
man, gentleman | woman, lady
boy | girl
he, him | she, her
his | hers
father, dad | mother, mom, mum
son | daughter
brother | sister
husband | wife
uncle | aunt
nephew | niece
king | queen
prince | princess
adult, grown up, grownup | child, kid
parent | offspring
student, pupil, learner | teacher, instructor, tutor
buyer, purchaser | seller, vendor
customer, client | supplier
employer | employee
landlord | tenant, renter
lender, creditor | borrower, debtor
sender | recipient, receiver
winner | loser
host | guest
doctor, physician | patient
plaintiff | defendant
personal, individual | business, corporate
public | private
full time | part time
permanent | temporary
manual, manually, by hand | automatic, automatically, auto
advantage, benefit | disadvantage, drawback
strength | weakness
profit | loss
income, revenue | expense, expenditure
asset | liability
credit | debit
surplus | deficit
supply | demand
wholesale | retail
gross | net
fixed | variable
long term | short term
maximum, max, maximal, upper limit | minimum, min, minimal, lower limit
high | low
arrival | departure
arrive | depart
entry, entrance | exit
enter | leave
takeoff, take off time | landing
pick up, pickup, pick off | drop off, dropoff
hot | cold
warm | cool
wet | dry
fat | thin
overweight | underweight
hyperglycemia | hypoglycemia
hypertension | hypotension
hyperthyroidism | hypothyroidism
hyperthermia | hypothermia
acute | chronic
benign | malignant
positive | negative
hire, recruit | fire, dismiss, lay off
marry, get married | divorce
live | die
alive | dead
win | lose
won | lost
pass | flunk, fail
remember | forget
love, like | hate, dislike
save | waste
push up | push down
attack | defend, defence, defense
arrest | release
build, construct | destroy, demolish
include | exclude
included | excluded
inclusive of | exclusive of
cheap, inexpensive | expensive, pricey, costly
easy, simple | difficult, hard, tough
good | bad
safe | dangerous, hazardous
new | old
fresh | stale
raw | cooked
sweet | bitter
early | late
fast, quick, quickly, rapidly | slow, slowly
big, large | small, little
long | short
tall | squat
wide | narrow
broad | specific
thick | thin layer
deep | shallow
heavy | light
strong | weak
full | empty
rich | poor
true | false
right answer | wrong
odd number | even number
prepaid | postpaid
past | future
ascending | descending
horizontal, horizontally | vertical, vertically
read | write
input | output
client side | server side
forward | backward, backwards, reverse
clockwise | counterclockwise, anticlockwise
all | some
every | certain
each | altogether
everyone, everybody | someone, somebody
everything | something
any | only, solely, exclusively
anyone, anybody | only one
both | either
many, lots of, lot of | few
much | a little
always | seldom, rarely
or | and also
for | against
over | under
above | below, beneath
rent | lease out
inhale | exhale
cause | prevent, avoid
damage | cure
legal | criminal
free, free of charge, at no cost, gratis | paid service
keep, retain | discard, throw away, throw out
join | leave group
begin with | end with
earn | spend
invest | divest
allow list | block list
success | failure
successfully | in vain
improve | worsen
arrive early | arrive late
recharge | discharge
heat | chill
freeze food | defrost
weight gain, gain weight, put on weight | weight loss, lose weight
"""

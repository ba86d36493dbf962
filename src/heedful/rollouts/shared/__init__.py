"""Policies held once for all workers of a machine: one process answers what they ask.

The driver starts that process (``host``, ``host_process``) and gives every worker a pipe to it
(``site``). A worker's policy (``line``) writes the images of an observation into memory that both map
(``images``) and sends the rest as a small message (``messages``). Whoever waits when a call begins is
answered by it, all in one (``batch``). ``serving`` and the watch tell the driver whose call it was when
it never ended.

What is promised: the same episodes, in the same scenes, asked in the words that the policy in that
process received. A call for one worker is what it would have been in the worker, to the last bit; one
for several may be rounded otherwise, because libraries add numbers up in another order.
"""

"""Computes how much of the next request a prompt cache can reuse, and the cost of the request's input.

A cache knows a prompt by its beginning. So the next request is compared, from the first byte on, with the
newest one that was answered, both in the order in which the cache of the API reads them
(`Provider.in_cache_order`). The comparison is like with like: under each policy the earlier request is built
anew as that policy would have made it. Under the policy in use that is the request that was sent.

A cache may reuse less: it forgets after some minutes, takes only prompts from about a thousand tokens on, and
compares in blocks of tokens.
"""

from __future__ import annotations

from itertools import takewhile

from keen_tui.agent.turn.request import step_request
from keen_tui.agent.turn.request_size import Measured
from keen_tui.agent.turn.turn_setup import TurnSetup
from keen_tui.domain.messages import TokenUsage
from keen_tui.domain.models import cost_of
from keen_tui.domain.reports import CacheReuse
from keen_tui.memory.policies import MemoryPolicy
from keen_tui.providers.wire.images import image_sizes
from keen_tui.providers.wire.provider import StepRequest


def cache_reuse(
    request: StepRequest, tokens: int, policy: MemoryPolicy, setup: TurnSetup, bytes_per_token: float
) -> CacheReuse:
    """Returns how much of this request can be reused; `policy` makes it `tokens` long. After a change of
    model that is nothing: each model has a cache of its own."""
    newest, provider = setup.newest_request, setup.provider
    whole_cost = _cost(tokens, 0, setup)
    if newest.identity is None:
        return CacheReuse(cost=whole_cost)
    if newest.identity != provider.identity:
        return CacheReuse(bytes=0, tokens=0, cost=whole_cost, reused_cost=whole_cost)
    before = step_request(newest.past, newest.traces, policy, setup, setup.toolbox.specs)
    same = common_beginning(provider.in_cache_order(before), provider.in_cache_order(request))
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(before.parts, request.parts, strict=False))
    images = image_sizes([part for part, _ in pairs], are_sent=provider.takes_images)
    same_tokens = min(Measured(same, tuple(images)).tokens(bytes_per_token), tokens)
    reused_cost = _cost(tokens, same_tokens, setup)
    return CacheReuse(bytes=same, tokens=same_tokens, cost=whole_cost, reused_cost=reused_cost)


def common_beginning(one: bytes, other: bytes) -> int:
    """The number of bytes that both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _cost(tokens: int, cached: int, setup: TurnSetup) -> float | None:
    """US dollars for the input of a request of which the cache has so many tokens; None if a price isn't
    known."""
    written = tokens - cached if setup.provider.writes_cache else 0
    used = TokenUsage(input_tokens=tokens, output_tokens=0, cached_tokens=cached, cache_write_tokens=written)
    return cost_of(used, setup.price)

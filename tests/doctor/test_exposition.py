"""An engine's page of metrics, read as far as its KV cache goes."""

from __future__ import annotations

from gateway.doctor._exposition import look, samples

PAGE = """# HELP vllm:kv_cache_usage_perc KV-cache usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.5
vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="1000",prefix="a \\"b\\""} 1.0
vllm:num_requests_running{engine="0"} 3.0
vllm:num_requests_running{engine="1"} 1.0
vllm:num_requests_waiting{engine="0"} 2.0
vllm:num_preemptions_total{engine="0"} 7.0
vllm:request_prompt_tokens_sum{engine="0"} 900.0
vllm:request_prompt_tokens_count{engine="0"} 3.0
vllm:request_prompt_tokens_bucket{engine="0",le="+Inf"} 3.0
vllm:request_generation_tokens_sum{engine="0"} 30.0
vllm:request_generation_tokens_count{engine="0"} 3.0
nonsense
x{ 1 2 3
other_metric NaN
"""


def test_what_vllm_tells_is_summed_over_its_engines_and_the_fullest_cache_counts() -> None:
    told = look(PAGE, 5.0)
    assert (told.at, told.used, told.capacity) == (5.0, 0.5, 16_000.0)
    assert (told.running, told.waiting, told.preempted) == (4.0, 2.0, 7.0)
    assert (told.prompts, told.answers) == ((900.0, 3.0), (30.0, 3.0))


def test_of_another_server_nothing_is_known() -> None:
    assert look("up 1\n", 0.0).used is None
    assert look('vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1', 0.0).capacity is None


def test_labels_may_hold_quotes_and_what_can_t_be_read_is_passed_over() -> None:
    found = {sample.name: sample for sample in samples(PAGE)}
    assert found["vllm:cache_config_info"].labels["prefix"] == 'a \\"b\\"'
    assert "nonsense" not in found
    assert "x" not in found

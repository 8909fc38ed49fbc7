-- SPDX-License-Identifier: Apache-2.0
-- API calls by time, as "gputrace report RECORDING api" has them: without launches that were held
-- up to be profiled (run --kernel-counters).
select
  ifnull(extract_arg(s.arg_set_id, 'debug.function'), s.name) as function,
  count(*) as calls,
  sum(s.dur) as total_ns,
  sum(extract_arg(s.arg_set_id, 'debug.result') is not null) as errors
from slice s
where s.category = 'api' and extract_arg(s.arg_set_id, 'debug.profiled') is null
group by function
order by total_ns desc, function;

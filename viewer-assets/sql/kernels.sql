-- SPDX-License-Identifier: Apache-2.0
-- Kernels by time on the device, as "gputrace report RECORDING kernels" has them: without launches
-- that were profiled (run --kernel-counters), whose times are no figure.
select
  s.name as kernel,
  count(*) as calls,
  sum(s.dur) as total_ns,
  min(s.dur) as min_ns,
  max(s.dur) as max_ns
from gpu_slice s
where s.render_stage_category = 2 and extract_arg(s.arg_set_id, 'profiled') is null
group by kernel
order by total_ns desc, kernel;

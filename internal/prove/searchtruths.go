package prove

import "time"

// searchTruths are the truths about the peak stable throughput.
var searchTruths = []Truth{
	{
		Name: "peak", Planted: "a capacity of 1,000/s",
		Load:     Load{Rate: 500, For: 2 * time.Second},
		Search:   &Search{Start: 700, Trial: 2 * time.Second, Confirm: 3 * time.Second},
		Settings: map[string]string{"service_time": "200us", "capacity": "1k/s"},
		Checks:   []Check{bracket(1_000)},
	},
	{
		Name:    "peak_with_a_pulse",
		Planted: "a capacity of 1,000/s that stops for 100 ms of each second",
		Load:    Load{Rate: 500, For: 2 * time.Second},
		Search:  &Search{Start: 700, Trial: 3 * time.Second, Confirm: 4 * time.Second},
		Settings: map[string]string{
			"service_time": "200us", "capacity": "1k/s", "stall_every": "1s", "stall_for": "100ms",
		},
		Checks: []Check{bracket(900)},
	},
}

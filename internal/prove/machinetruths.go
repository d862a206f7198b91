package prove

import "time"

// machineTruths are those of plimsoll itself as the limit.
var machineTruths = []Truth{
	{
		Name: "generator", Planted: "a system without limits is offered 20M/s, more than plimsoll can",
		RealTime: "on virtual time nothing that plimsoll does takes time",
		Load:     Load{Rate: 20e6, For: time.Second, Drain: time.Second},
		Settings: map[string]string{"service_time": "0s"},
		Checks:   []Check{blamesGenerator},
	},
}

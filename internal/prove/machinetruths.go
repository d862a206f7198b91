package prove

import "time"

// machineTruths are the truths about plimsoll itself as the limit.
var machineTruths = []Truth{
	{
		Name:     "generator",
		Planted:  "a system without limits is offered 20M/s, more than plimsoll can send",
		RealTime: "on virtual time plimsoll's own work takes no time",
		Load:     Load{Rate: 20e6, For: time.Second, Drain: time.Second},
		Settings: map[string]string{"service_time": "0s"},
		Checks:   []Check{blamesGenerator},
	},
}

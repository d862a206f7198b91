package postgres

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// aims are the settings for each aim of the clients.
var aims = map[workload.Clients]system.Aim{
	workload.ClientsDefault: {How: "an INSERT leaves as soon as the one before it is answered, " +
		"and NOTIFY wakes consumers"},
	workload.ClientsLatency: {
		Sets: system.MustSet(setLinger+"=0s", setWake+"="+wakeNotify),
		How: "an INSERT leaves as soon as the one before it is answered, and NOTIFY wakes " +
			"consumers",
	},
	workload.ClientsThroughput: {
		Sets: system.MustSet(setLinger+"=20ms", setWake+"=poll", setPoll+"=20ms"),
		How: "an INSERT gathers messages for 20ms, and an idle consumer asks every 20ms, which " +
			"saves a NOTIFY at each commit",
	},
}

// settingWaits are the waits that settings cause.
var settingWaits = []system.Wait{
	system.Lingers(setLinger),
	{Series: result.EndToEnd, Setting: setPoll,
		Words: "an idle consumer asks again after up to %s",
		Most: func(c system.Check) time.Duration {
			if c.Settings.Text(setWake) == wakeNotify {
				return 0
			}
			return c.Settings.Duration(setPoll)
		}},
}

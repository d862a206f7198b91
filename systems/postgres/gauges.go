package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
)

// gauges are the primary's statistics of the topics' tables, which are about half a second old.
var gauges = []struct {
	name, unit, query string
	counter           bool
}{
	{name: "live rows", query: "sum(n_live_tup)"},
	{name: "dead rows", query: "sum(n_dead_tup)"},
	{name: "tables and indexes", unit: "bytes", query: "sum(pg_total_relation_size(relid))"},
	{name: "autovacuum runs", query: "sum(autovacuum_count)", counter: true},
	{name: "since the last autovacuum", unit: "s",
		query: "extract(epoch FROM clock_timestamp() - max(last_autovacuum))"},
	{name: "oldest open transaction", unit: "s",
		query: "(SELECT extract(epoch FROM clock_timestamp() - min(xact_start)) " +
			"FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid())"},
}

// ReadGauges reads VACUUM's pending work over a separate connection. It leaves out unknown
// figures, such as the time since an autovacuum that has not happened.
func (c *cluster) ReadGauges(ctx context.Context, topics []system.Topic) ([]system.Gauge, error) {
	var columns, names []string
	for _, g := range gauges {
		columns = append(columns, g.query+"::float8")
	}
	for _, t := range topics {
		names = append(names, literal(t.Name), literal(t.Name+readersSuffix))
	}
	c.gaugesBusy.Lock()
	defer c.gaugesBusy.Unlock()
	rows, err := c.gauges.ask(ctx, "SELECT "+strings.Join(columns, ", ")+
		" FROM pg_stat_user_tables WHERE relname IN ("+strings.Join(names, ", ")+")")
	if err != nil {
		return nil, c.explain(err)
	}
	var all []system.Gauge
	for i, text := range rows[0] {
		g := gauges[i]
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			all = append(all, system.Gauge{Name: g.name, Unit: g.unit, Value: value,
				Counter: g.counter})
		}
	}
	return all, nil
}

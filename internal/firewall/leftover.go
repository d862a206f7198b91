package firewall

import "github.com/plimsoll-bench/plimsoll/internal/leftover"

// Table is the kind of a table that Check tries.
const Table leftover.Kind = "firewall table"

// RemoveTable removes such a table.
func RemoveTable(name string) (removed []string, left bool, err error) {
	if err := Remove(name); err != nil {
		return nil, false, err
	}
	return []string{"removed firewall table " + name + ", which a killed plimsoll left"}, false, nil
}

package pulsar

import "testing"

func TestAddressOfTheOwner(t *testing.T) {
	both := owner{BrokerURL: "pulsar://127.0.0.1:6650", BrokerURLTLS: "pulsar+ssl://127.0.0.1:6651"}
	for _, c := range []struct {
		owner     owner
		encrypted bool
		want      string // empty: an error
	}{
		{both, false, "127.0.0.1:6650"}, {both, true, "127.0.0.1:6651"},
		{owner{BrokerURL: "pulsar://[::1]:6650"}, true, "[::1]:6650"},
		{owner{}, false, ""}, {owner{BrokerURL: "://"}, false, ""},
	} {
		got, err := c.owner.address(c.encrypted)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v, encrypted %t: got %q, %v, want %q", c.owner, c.encrypted, got, err,
				c.want)
		}
	}
}

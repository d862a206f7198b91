package document

import "testing"

// A cell breaks long words after their signs, and never an address.
func TestCellsBreakAtSigns(t *testing.T) {
	for in, want := range map[string]string{
		"127.102.226.1:5672":                    "127.102.226.1:5672",
		"127.102.226.1:5672,127.102.226.2:5672": "127.102.226.1:5672,<wbr>127.102.226.2:5672",
		"SHOW <b> & more":                       "SHOW &lt;b&gt; &amp; more",
		"org.apache.kafka.clients.Assignor":     "org.<wbr>apache.<wbr>kafka.<wbr>clients.<wbr>Assignor",
		"a?<script>alert(1)</script>&b=c,d":     "a?<wbr>&lt;script&gt;alert(1)&lt;/<wbr>script&gt;&amp;<wbr>b=<wbr>c,<wbr>d",
	} {
		if got := string(breakable(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

const listening = "listen: 10.0.0.5:7077\n"

const goodLab = listening + `hosts:
- {name: b, address: 10.0.0.11, dir: /mnt/fast disk}
- {name: a}
workers: [{name: w1}]
`

func TestLab(t *testing.T) {
	l, err := ParseLab("lab.yaml", []byte(goodLab))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"plimsoll host --join here:1 --token-file t --name b --address 10.0.0.11 " +
			"--dir '/mnt/fast disk'",
		"plimsoll host --join here:1 --token-file t --name a",
	}
	if got := l.JoinCommands("host", "here:1", "t"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	l.Workers = nil
	want = []string{"plimsoll worker --join here:1 --token-file t"}
	if got := l.JoinCommands("worker", "here:1", "t"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestLabsAreRefused(t *testing.T) {
	many := "hosts:\n" + strings.Repeat("- {name: h}\n", MostHosts+1)
	twice := "hosts: [{name: a, address: 1.2.3.4}, {name: b, address: 1.2.3.4}]\n"
	for src, want := range map[string]string{
		"":                                 "a lab needs at least",
		"listen: here\nhosts: [{name: a}]": "listen must be the address",
		listening:                          "names no machine",
		listening + "hosts: [{name: a}]\nworkers: [{name: a}]\n": "is taken",
		listening + "hosts: [{name: coordinator}]\n":             "is taken",
		listening + "hosts: [{address: 1.2.3.4}]\n":              "name is empty",
		listening + "hosts: [{name: a, address: '::1'}]\n":       "an IPv4 address",
		listening + "workers: [{name: a, dir: x}]\n":             "only hosts need",
		listening + "hosts: [{name: a, dir: \"x'; rm y\"}]\n":    "no quotes",
		listening + "hosts: [{name: a, disk: x}]\n":              "disk",
		listening + many:  "at most 100",
		listening + twice: "its own",
	} {
		if _, err := ParseLab("lab.yaml", []byte(src)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", src, err, want)
		}
	}
}

// Any file is refused or gives commands of one line each.
func FuzzLab(f *testing.F) {
	f.Add([]byte(goodLab))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := ParseLab("fuzz", src)
		if err != nil {
			return
		}
		hosts, workers := l.JoinCommands("host", "here:1", "t"), l.JoinCommands("worker", "here:1", "t")
		for _, c := range append(hosts, workers...) {
			if strings.ContainsFunc(c, unprintable) || strings.Count(c, "'")%2 != 0 {
				t.Errorf("%q", c)
			}
		}
	})
}

// Only the machines of the lab join, at their addresses, and its order is theirs.
func TestLabIsExpected(t *testing.T) {
	c, err := Listen(Options{Address: "127.0.0.1:0", Version: version, Clock: clock.Precise(),
		Hosts: 2, Workers: 2, Lab: Lab{Hosts: []Machine{{Name: "b", Address: "127.1.1.1"}, {Name: "a"}},
			Workers: []Machine{{Name: "w2"}, {Name: "w1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	host := func(name, address string) *hired {
		return hireWith(t, WorkerOptions{Coordinator: c.Address(), Token: c.Token(), Name: name,
			Host: "here", Version: version, Cores: 1, Systems: system.NewRegistry(newToy()),
			Clock: clock.Precise(), Hosting: &Hosting{Address: address, Base: t.TempDir()}})
	}
	strange, moved := host("w1", "127.1.1.1"), host("b", "127.1.1.2")
	worker := hire(t, c, newToy(), "a")
	for want, h := range map[string]*hired{
		"no host named w1 is expected: its names are b, a":                        strange,
		"host b is expected at 127.1.1.1 and has the address 127.1.1.2: start it": moved,
		"no worker named a is expected: its names are w2, w1":                     worker,
	} {
		if err := <-h.ended; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	host("a", "127.1.1.2")
	hire(t, c, newToy(), "w1")
	for len(c.hosts()) == 0 || len(c.team()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if got, want := c.Missing(), "these have not joined: b, w2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	host("b", "127.1.1.1")
	hire(t, c, newToy(), "w2")
	if err := c.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, m := range append(c.hosts(), c.team()...) {
		order = append(order, m.hello.Name)
	}
	if want := []string{"b", "a", "w2", "w1"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

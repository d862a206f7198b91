package fleet

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Lab is a file that names the machines of a fleet.
type Lab struct {
	// Listen is the host:port at which they join.
	Listen string `yaml:"listen"`
	// Hosts run the servers: the first has the first node, and so on. None: no host does.
	Hosts []Machine `yaml:"hosts"`
	// Workers offer the load; none: the coordinator does.
	Workers []Machine `yaml:"workers"`
}

// Machine is a host or worker that is expected.
type Machine struct {
	Name string `yaml:"name"` // by which it joins
	// Address is the IPv4 address that a host's servers listen on; empty: the host finds one.
	Address string `yaml:"address"`
	// Dir is the folder of a host's data; empty: the host's default.
	Dir string `yaml:"dir"`
}

// leastLab is what a lab's file needs.
const leastLab = "a lab needs at least an address to join at and a machine: see docs/LAB.md"

// ReadLab reads the file of a lab. The error is one sentence, or a strict.Violations with
// everything that is wrong.
func ReadLab(path string) (*Lab, error) {
	src, err := strict.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseLab(path, src)
}

// ParseLab reads a lab. file is the name for error messages.
func ParseLab(file string, src []byte) (*Lab, error) {
	l := new(Lab)
	doc := strict.Decode(file, src, l, leastLab)
	if !doc.Broken() {
		l.check(doc)
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l Lab) check(doc *strict.Document) {
	if _, _, err := net.SplitHostPort(l.Listen); err != nil {
		doc.Reject("listen", "must be the address at which hosts and workers join, such as "+
			"10.0.0.5:7077")
	}
	for _, role := range []struct {
		key       string
		has, most int
	}{{"hosts", len(l.Hosts), MostHosts}, {"workers", len(l.Workers), MostWorkers}} {
		if role.has > role.most {
			doc.Reject(role.key, fmt.Sprintf("must be at most %d machines, not %d", role.most,
				role.has))
		}
	}
	if len(l.Hosts)+len(l.Workers) == 0 {
		doc.Reject("", "names no machine: write hosts or workers")
	}
	names, addresses := make(map[string]bool), make(map[string]bool)
	for i, m := range l.Hosts {
		path := fmt.Sprintf("hosts[%d]", i)
		m.check(doc, path, names)
		if m.Address == "" {
			continue
		}
		if err := checkAddress(m.Address); err != nil {
			doc.Reject(path+".address", "must be an IPv4 address, such as 10.0.0.11")
		}
		if addresses[m.Address] {
			doc.Reject(path+".address", "belongs to another host already: give each its own")
		}
		addresses[m.Address] = true
	}
	for i, m := range l.Workers {
		path := fmt.Sprintf("workers[%d]", i)
		m.check(doc, path, names)
		if m.Address != "" || m.Dir != "" {
			doc.Reject(path, "has an address or a folder, which only hosts need: leave them out")
		}
	}
}

// check checks what hosts and workers have in common; names are those of the machines before.
func (m Machine) check(doc *strict.Document, path string, names map[string]bool) {
	switch wrong := strict.CheckName(m.Name, nameMost); {
	case wrong != "":
		doc.Reject(path+".name", wrong)
	case m.Name == coordinatorCN || names[m.Name]:
		doc.Reject(path+".name", "is taken: give each machine a name of its own")
	}
	names[m.Name] = true
	if strings.ContainsFunc(m.Dir, unprintable) || strings.ContainsAny(m.Dir, `'"\`) {
		doc.Reject(path+".dir", "must have printable characters and no quotes")
	}
}

// JoinCommands returns the commands by which the machines of a role, host or worker, join with a
// token in that file: one for each machine, or one for all if the lab names none.
func (l Lab) JoinCommands(role, address, tokenFile string) (all []string) {
	join := fmt.Sprintf("plimsoll %s --join %s --token-file %s", role, address, tokenFile)
	for _, m := range l.those(role == roleHost) {
		command := join + " --name " + m.Name
		if m.Address != "" {
			command += " --address " + m.Address
		}
		if m.Dir != "" {
			command += fmt.Sprintf(" --dir '%s'", m.Dir)
		}
		all = append(all, command)
	}
	if len(all) == 0 {
		return []string{join}
	}
	return all
}

// those returns the hosts or the workers.
func (l Lab) those(hosts bool) []Machine {
	if hosts {
		return l.Hosts
	}
	return l.Workers
}

// expects returns the machine of that name and its place among all, -1 if there is none.
func expects(all []Machine, name string) (m Machine, place int) {
	place = slices.IndexFunc(all, func(m Machine) bool { return m.Name == name })
	if place >= 0 {
		m = all[place]
	}
	return m, place
}

// namesOf returns the machines' names.
func namesOf(all []Machine) (names []string) {
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

package driver

import (
	"fmt"
	"strings"
)

// Properties is a configuration file of lines name=value. It does not escape values. The
// zero value is empty.
type Properties struct {
	names  []string
	values map[string]string
}

// Set sets a value and replaces the name's earlier one.
func (p *Properties) Set(name string, value any) {
	if p.values == nil {
		p.values = make(map[string]string)
	}
	if _, there := p.values[name]; !there {
		p.names = append(p.names, name)
	}
	p.values[name] = fmt.Sprint(value)
}

// String returns the content of the file.
func (p *Properties) String() string {
	var b strings.Builder
	for _, name := range p.names {
		fmt.Fprintf(&b, "%s=%s\n", name, p.values[name])
	}
	return b.String()
}

package omb

import (
	"strconv"
	"strings"
)

// Property is one setting of Java properties.
type Property struct{ Name, Value string }

// ParseProperties reads Java properties: one setting per line, with =, : or blanks between name
// and value, comments after # or !, and a backslash at the end of a continued line. The last of
// several values of a name counts. As in Java, no text is malformed, except \u escapes without
// their digits: those are kept unchanged.
func ParseProperties(text string) []Property {
	var all []Property
	at := map[string]int{}
	for _, line := range logicalLines(text) {
		name, value := splitProperty(line)
		if i, twice := at[name]; twice {
			all[i].Value = value
			continue
		}
		at[name] = len(all)
		all = append(all, Property{name, value})
	}
	return all
}

const blanks = " \t\f"

// logicalLines joins continued lines and leaves out blank lines and comments.
func logicalLines(text string) []string {
	var lines []string
	var b strings.Builder
	continued := false
	for _, line := range strings.FieldsFunc(text,
		func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeft(line, blanks)
		if !continued && (line == "" || line[0] == '#' || line[0] == '!') {
			continue
		}
		head := strings.TrimRight(line, `\`)
		continued = (len(line)-len(head))%2 == 1
		if continued {
			line = line[:len(line)-1]
		}
		b.WriteString(line)
		if !continued {
			lines = append(lines, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		lines = append(lines, b.String())
	}
	return lines
}

func splitProperty(line string) (name, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.ContainsRune(blanks+"=:", rune(line[i])) {
			end = i
			break
		}
	}
	value = strings.TrimLeft(line[end:], blanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blanks)
	}
	// In Java, blanks at the end belong to the value; no setting needs them.
	return unescape(line[:end]), strings.TrimRight(unescape(value), blanks)
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if i+4 < len(s) {
				if code, err := strconv.ParseUint(s[i+1:i+5], 16, 16); err == nil {
					b.WriteRune(rune(code))
					i += 4
					continue
				}
			}
			b.WriteString(`\u`)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

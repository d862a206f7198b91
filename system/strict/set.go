package strict

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Set returns the mapping in src with another value at the path, as YAML that Decode reads.
// value is YAML, such as 64KB or {kind: zipf}. It replaces the old value, and Set adds the
// missing mappings on the way. Paths are those of Document: load.steps[0].rate. The error is
// one sentence on the path or the value. Set does not know which paths are valid: Decode checks
// them.
func Set(src []byte, path, value string) (string, error) {
	return SetAll(src, Pairs{{Name: path, Value: value}})
}

// SetAll is Set for several paths, in order.
func SetAll(src []byte, all Pairs) (string, error) {
	root, err := read(src)
	if err != nil {
		return "", err
	}
	if root.shape != mapping {
		return "", fmt.Errorf("must be a mapping of keys to values, not %s", root.shape)
	}
	for _, p := range all {
		if strings.ContainsAny(p.Value, "\n\r") {
			return "", fmt.Errorf("the value of %s has several lines: write it in one", p.Name)
		}
		given, err := read([]byte("value: " + p.Value))
		if err != nil || len(given.keys) != 1 {
			return "", fmt.Errorf(
				"%s is not a value that can be read: check its quotes and brackets", quote(p.Value))
		}
		if err := root.set(p.Name, p.Name, given.keys[0].value); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for _, key := range root.keys {
		b.WriteString(Quote(key.name) + ":" + key.value.flow(" ") + "\n")
	}
	if len(root.keys) == 0 {
		return "{}\n", nil
	}
	return b.String(), nil
}

// read parses a text that is expected to be valid.
func read(src []byte) (*node, error) {
	text, unreadable := clean(src)
	if unreadable != nil {
		return nil, errors.New(unreadable.message)
	}
	root, faults := parse(text)
	if len(faults) > 0 {
		return nil, errors.New(faults[0].message)
	}
	return root, nil
}

// set sets the value at the rest of a path below a mapping.
func (n *node) set(path, rest string, value *node) error {
	step, rest, more := strings.Cut(rest, ".")
	name, index, indexed, err := splitIndex(step)
	if err != nil {
		return fmt.Errorf("%q is not a path of keys: %w", path, err)
	}
	at := n.child(name)
	if indexed {
		if at.shape != list || index >= len(at.items) {
			return fmt.Errorf("%s names an item of a list that is not there", path)
		}
		at = at.items[index]
	}
	if !more {
		*at = *value
		return nil
	}
	switch at.shape {
	case nothing:
		at.shape = mapping
	case single, list:
		return fmt.Errorf("%s goes through %s, which is %s: give all of %s at once", path, step,
			at.shape, step)
	}
	return at.set(path, rest, value)
}

// child returns the value of a key, and adds the key when it is absent.
func (n *node) child(name string) *node {
	for _, key := range n.keys {
		if key.name == name {
			return key.value
		}
	}
	made := &node{shape: nothing}
	n.keys = append(n.keys, entry{name: name, value: made})
	return made
}

// splitIndex splits steps[0] into its name and its index.
func splitIndex(step string) (name string, index int, indexed bool, err error) {
	name, rest, indexed := strings.Cut(step, "[")
	if !isPlainWord(name) {
		return "", 0, false, fmt.Errorf("%s is not the name of a key", quote(name))
	}
	if !indexed {
		return name, 0, false, nil
	}
	digits, closed := strings.CutSuffix(rest, "]")
	index, err = strconv.Atoi(digits)
	if err != nil || !closed || index < 0 {
		return "", 0, false, fmt.Errorf("[%s is not the number of an item", rest)
	}
	return name, index, true, nil
}

// flow prints a value on one line, after the text before it.
func (n *node) flow(before string) string {
	switch n.shape {
	case nothing:
		return before + "null"
	case mapping:
		parts := make([]string, len(n.keys))
		for i, key := range n.keys {
			parts[i] = Quote(key.name) + ":" + key.value.flow(" ")
		}
		return before + "{" + strings.Join(parts, ", ") + "}"
	case list:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = item.flow("")
		}
		return before + "[" + strings.Join(parts, ", ") + "]"
	}
	return before + Quote(n.text)
}

package command

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/studies"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The scripts contain no commands of plimsoll: they call 'plimsoll complete', so an installed
// script fits every later version.
//
//go:embed completion
var completionScripts embed.FS

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help is the text below the usage.
func (*completionCommand) Help() string {
	return "bash:  source <(plimsoll completion bash)\n\n" +
		"zsh:   source <(plimsoll completion zsh)\n\n" +
		"fish:  plimsoll completion fish | source\n\n" +
		"A line in the shell's start-up file makes it permanent."
}

// Run prints the script.
func (c *completionCommand) Run(con console) error {
	script, err := completionScripts.ReadFile("completion/plimsoll." + c.Shell)
	if err != nil {
		return fmt.Errorf("completion script: %w", err)
	}
	_, err = con.out.Write(script)
	return err
}

type completeCommand struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"The shell that asks."`
	Words []string `arg:"" optional:"" passthrough:"" help:"The words after plimsoll."`
}

// Run prints the completions of the last word, a line each. It exits with 1 when the word can also
// be the name of a file, which the shell completes itself.
func (c *completeCommand) Run(con console, parsed *kong.Context) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if c.Shell == "bash" {
		words = joinAssignments(words)
	}
	if len(words) == 0 {
		words = []string{""}
	}
	candidates, files := complete(parsed.Model.Node, words)
	for _, candidate := range candidates {
		fmt.Fprintln(con.out, candidate.line(c.Shell))
	}
	if files {
		return exitError(exitFailed)
	}
	return nil
}

// joinAssignments rejoins words that bash has split at equals signs.
func joinAssignments(words []string) []string {
	var joined []string
	for i, word := range words {
		if last := len(joined) - 1; last >= 0 && (word == "=" || words[i-1] == "=") {
			joined[last] += word
			continue
		}
		joined = append(joined, word)
	}
	return joined
}

// candidate is a possible word at the cursor.
type candidate struct {
	word string
	help string
}

// line returns the candidate in the form that a shell's script expects.
func (c candidate) line(shell string) string {
	word, between := c.word, "\t"
	switch shell {
	case "bash":
		// bash replaces only what follows the equals sign, and shows no help.
		if _, value, assigned := strings.Cut(word, "="); assigned {
			return value
		}
		return word
	case "zsh":
		word, between = strings.ReplaceAll(word, ":", `\:`), ":"
	}
	if c.help == "" {
		return word
	}
	return word + between + c.help
}

// complete returns the completions of the last word, and whether it can be a file.
func complete(root *kong.Node, words []string) (candidates []candidate, files bool) {
	at := position{node: root}
	last := len(words) - 1
	for _, word := range words[:last] {
		at.pass(word)
	}
	candidates, files = at.candidates(words[last])
	return slices.DeleteFunc(candidates, func(c candidate) bool {
		return !strings.HasPrefix(c.word, words[last])
	}), files
}

// position is a place on the command line.
type position struct {
	node      *kong.Node
	arguments int         // how many positional arguments were passed
	awaiting  *kong.Value // the flag whose value comes next
	literal   bool        // after --, nothing is a flag
}

// pass moves past a finished word.
func (p *position) pass(word string) {
	switch {
	case p.awaiting != nil:
		p.awaiting = nil
	case word == "--":
		p.literal = true
	case strings.HasPrefix(word, "-") && !p.literal:
		if flag := p.flag(word); flag != nil && !flag.IsBool() && !flag.IsCounter() {
			p.awaiting = flag.Value
		}
	default:
		for _, child := range p.node.Children {
			if child.Name == word || slices.Contains(child.Aliases, word) {
				p.node = child
				return
			}
		}
		if p.node.DefaultCmd != nil {
			p.node = p.node.DefaultCmd
		}
		p.arguments++
	}
}

// flag finds a flag by a word that is exactly its name.
func (p *position) flag(word string) *kong.Flag {
	for _, flag := range p.flags() {
		if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
			return flag
		}
	}
	return nil
}

// flags returns the possible flags here, including the default command's.
func (p *position) flags() []*kong.Flag {
	node := p.node
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	return slices.Concat(node.AllFlags(true)...)
}

func (p *position) candidates(word string) (found []candidate, files bool) {
	if p.awaiting != nil {
		return valuesOf(p.node, p.awaiting), takesFile(p.awaiting)
	}
	if strings.HasPrefix(word, "-") && !p.literal {
		name, _, assigned := strings.Cut(word, "=")
		if !assigned {
			return p.flagCandidates(), false
		}
		flag := p.flag(name)
		if flag == nil {
			return nil, false
		}
		found = valuesOf(p.node, flag.Value)
		for i := range found {
			found[i].word = name + "=" + found[i].word
		}
		return found, takesFile(flag.Value)
	}
	for _, child := range p.node.Children {
		if !child.Hidden {
			found = append(found, candidate{child.Name, child.Help})
		}
	}
	if argument := p.argument(); argument != nil {
		return append(found, valuesOf(p.node, argument)...), takesFile(argument)
	}
	if len(found) == 0 && !p.literal {
		return p.flagCandidates(), false
	}
	return found, false
}

func (p *position) flagCandidates() (found []candidate) {
	for _, flag := range p.flags() {
		found = append(found, candidate{"--" + flag.Name, flag.Help})
	}
	return found
}

// argument returns the positional argument at this position, or nil.
func (p *position) argument() *kong.Value {
	all := p.node.Positional
	if p.arguments < len(all) {
		return all[p.arguments]
	}
	if last := len(all) - 1; last >= 0 && all[last].IsCumulative() {
		return all[last]
	}
	return nil
}

// takesFile reports whether a value may be the name of a file or a folder.
func takesFile(v *kong.Value) bool {
	hint := v.Name
	if v.Flag != nil {
		hint = v.Flag.PlaceHolder
	}
	hint = strings.ToUpper(hint)
	return v.Tag.Type == "path" || strings.Contains(hint, "FILE") ||
		v.Flag == nil && v.Name == "set"
}

// valuesOf returns the known values of a flag or an argument.
func valuesOf(node *kong.Node, v *kong.Value) []candidate {
	if v.Enum != "" {
		return named(v.EnumSlice())
	}
	name := v.Name
	if v.Flag != nil {
		name = "--" + name
	}
	known := knownValues()
	found, has := known[strings.TrimSpace(node.Path())+" "+name]
	if !has && v.Flag != nil {
		found = known[name]
	}
	return found
}

// knownValues returns the lists of names that complete a flag of every command, or one command's
// flag or argument.
func knownValues() map[string][]candidate {
	known, published := named(systems.Registry().Names()), named(study.Names())
	targets := systems.Registry().Names()
	for _, s := range systems.All() {
		targets = append(targets, systems.TargetNames(s)...)
	}
	var workloads, keys, levels, figures []candidate
	for _, f := range figure.All() {
		figures = append(figures, candidate{f.Name, f.Title})
	}
	for _, e := range workload.Library() {
		workloads = append(workloads, candidate{e.Name, e.Description})
	}
	for _, f := range workload.Fields() {
		keys = append(keys, candidate{f.Path + "=", f.Means})
	}
	for level := workload.SyncSync; level <= workload.AsyncAsync; level++ {
		levels = append(levels, candidate{fmt.Sprint(int(level)), level.Meaning()})
	}
	return map[string][]candidate{
		"--workload":   workloads,
		"--target":     named(append(targets, systems.AllLocal)),
		"--durability": levels,
		"--clients":    named(workload.ClientWords()),
		"--set":        keys,
		"--scale":      named(study.Scales()),
		"--primary":    figures,

		"history --figure":   figures,
		"report --format":    named(append(export.Formats(), studies.Charts)),
		"prove --only":       named(truthNames()),
		"testbed break --do": named(workload.FaultKinds()),
		"testbed break --node": named([]workload.FaultTarget{workload.TargetOne,
			workload.TargetAll}),
		"systems name":           known,
		"testbed up system|file": known,
		"study run NAME|FILE":    published,
		"study show NAME|FILE":   published,
	}
}

func named[Name ~string](names []Name) (found []candidate) {
	for _, name := range names {
		found = append(found, candidate{word: string(name)})
	}
	return found
}

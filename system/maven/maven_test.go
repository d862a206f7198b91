package maven

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var some = Artifacts{Name: "some-1", Coordinates: []string{"g:a:1", "g:b:2.0"}}

// brings is the beginning of a fake mvn. It logs its arguments, and finds the folder for
// the jars in them.
const brings = `#!/bin/sh
echo "$*" >> "$CALLS"
for arg; do case "$arg" in -DoutputDirectory=*) out="${arg#*=}";; esac; done
`

// fakeMaven puts a mvn with this script on the PATH, and replaces the user's cache by an
// empty one. calls returns the logged calls.
func fakeMaven(t *testing.T, script string) (calls func() []string) {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "mvn"), []byte(brings+script), 0o755); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "calls")
	t.Setenv("CALLS", list)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return func() []string {
		raw, err := os.ReadFile(list)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(raw)), " ", "|"))
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// left lists the cache's entries except locks.
func left(t *testing.T) []string {
	t.Helper()
	folder, err := some.folder()
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(filepath.Dir(folder))
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			names = append(names, e.Name())
		}
	}
	return names
}

const works = `grep -q '<artifactId>b</artifactId><version>2.0</version>' pom.xml || exit 9
echo content > "$out/a.jar"; echo more > "$out/b.jar"
`

func TestFetchOnce(t *testing.T) {
	calls := fakeMaven(t, works)
	var progress []string
	note := func(sentence string) { progress = append(progress, sentence) }
	dir, err := some.Fetch(within(t), note)
	if err != nil {
		t.Fatal(err)
	}
	again, err := some.Fetch(within(t), note)
	if err != nil || again != dir {
		t.Errorf("the second fetch: %s, %v", again, err)
	}
	if len(progress) != 2 || !strings.Contains(progress[0], "some-1") {
		t.Errorf("progress %q", progress)
	}
	want := dependencyPlugin + ":copy-dependencies"
	if got := calls(); len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("mvn was called %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.jar")); err != nil || Classpath(dir) != dir+"/*" {
		t.Errorf("%v, class path %s", err, Classpath(dir))
	}
	if names := left(t); len(names) != 1 {
		t.Errorf("the cache holds %v", names)
	}
	other := Artifacts{Name: some.Name, Coordinates: []string{"g:a:2"}}
	if folder, _ := other.folder(); folder == dir {
		t.Error("other coordinates have the same folder")
	}
}

func TestFetchedJarsNeedNoMaven(t *testing.T) {
	fakeMaven(t, works)
	if _, err := some.Fetch(within(t), nil); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := some.Fetch(within(t), nil); err != nil {
		t.Error(err)
	}
	other := Artifacts{Name: "other", Coordinates: []string{"g:c:1"}}
	_, err := other.Fetch(within(t), nil)
	want := "this machine lacks Maven, which fetches the servers: install the package maven"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if !some.Fetched() || other.Fetched() {
		t.Errorf("fetched: %t and %t, want true and false", some.Fetched(), other.Fetched())
	}
}

func TestDamagedFolderIsFetchedAgain(t *testing.T) {
	calls := fakeMaven(t, works)
	dir, err := some.Fetch(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, damage := range []func() error{
		func() error { return os.Remove(filepath.Join(dir, "a.jar")) },
		func() error { return os.Truncate(filepath.Join(dir, "b.jar"), 1) },
		func() error { return os.Truncate(filepath.Join(dir, listFile), 0) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := some.Fetch(within(t), nil); err != nil {
			t.Fatal(err)
		}
		if got := len(calls()); got != i+2 || !whole(dir) {
			t.Errorf("damage %d: %d calls, complete %t", i, got, whole(dir))
		}
	}
}

func TestInterruptedFetchIsRepeated(t *testing.T) {
	fakeMaven(t, works)
	folder, err := some.folder()
	if err != nil {
		t.Fatal(err)
	}
	// A killed fetch leaves these folders.
	for _, suffix := range []string{".part", ".work"} {
		if err := os.MkdirAll(folder+suffix, 0o755); err != nil {
			t.Fatal(err)
		}
		half := filepath.Join(folder+suffix, "half.jar")
		if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := some.Fetch(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "half.jar")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder holds the half jar: %v", err)
	}
	if names := left(t); len(names) != 1 {
		t.Errorf("left: %v", names)
	}
}

const failedGoal = "Failed to execute goal on project servers: Could not find artifact g:a:jar:1"

const notFound = `cat <<'END'
[ERROR] ` + failedGoal + ` in central -> [Help 1]
[ERROR]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
[ERROR] Re-run Maven using the -X switch to enable full debug logging.
[ERROR]
[ERROR] For more information about the errors and possible solutions, please read the ` +
	`following articles:
[ERROR] [Help 1] some address
END
`

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		calls              int
	}{
		{"not found", notFound + "exit 1",
			"mvn failed: " + failedGoal + " in central: correct the network", 1},
		{"half a download", `echo half > "$out/a.jar"; exit 1`, "it printed no error", 1},
		{"color", `printf '\033[1;31m[ERROR] red\033[0m\n'; exit 1`, "mvn failed: red:", 1},
		{"too much", `printf '[ERROR] '; head -c 100000 /dev/zero | tr '\0' x; exit 1`,
			"xxx…", 1},
		{"nothing", "exit 0", "brought no jar", 1},
		{"remembered", `echo '[ERROR] g:a:jar:1 failed: ` +
			`this failure was cached in the local repository'; exit 1`,
			"cached in the local repository", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := fakeMaven(t, c.script)
			_, err := some.Fetch(within(t), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n") || len(err.Error()) > 2*maxReason {
				t.Errorf("%.1000v is not a sentence with %q", err, c.want)
			}
			got := calls()
			retried := func() bool {
				return !strings.Contains(got[0], "-U") && strings.HasSuffix(got[1], "|-U")
			}
			if len(got) != c.calls || c.calls == 2 && !retried() {
				t.Errorf("mvn was called %q", got)
			}
			if names := left(t); len(names) > 0 {
				t.Errorf("left: %v", names)
			}
		})
	}
}

func TestCachedMissIsRetried(t *testing.T) {
	calls := fakeMaven(t, `case "$*" in *-U) `+strings.ReplaceAll(works, "\n", "; ")+` exit 0;; esac
echo '[ERROR] was not found during a previous attempt. `+
		`This failure was cached in the local repository'; exit 1`)
	if _, err := some.Fetch(within(t), nil); err != nil || len(calls()) != 2 {
		t.Errorf("%v, calls %q", err, calls())
	}
}

func TestHangingMavenIsKilledWithItsContext(t *testing.T) {
	fakeMaven(t, `sleep 1000 & echo $! > "$CALLS.pid"; echo half > "$out/a.jar"; wait`)
	pidFile := os.Getenv("CALLS") + ".pid"
	ctx, cancel := context.WithCancel(within(t))
	go func() {
		for ctx.Err() == nil {
			raw, err := os.ReadFile(pidFile)
			if err == nil && strings.HasSuffix(string(raw), "\n") {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := some.Fetch(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(raw), &pid); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); alive(pid); {
		time.Sleep(5 * time.Millisecond)
		if time.Now().After(deadline) {
			t.Fatalf("process %d, which mvn started, still runs", pid)
		}
	}
	if names := left(t); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && strings.Contains(string(stat), ") Z ") {
		return false
	}
	return syscall.Kill(pid, 0) == nil
}

func TestConcurrentFetchesCallMavenOnce(t *testing.T) {
	calls := fakeMaven(t, "sleep 0.3\n"+works)
	var both sync.WaitGroup
	for range 4 {
		both.Go(func() {
			if dir, err := some.Fetch(within(t), nil); err != nil || !whole(dir) {
				t.Errorf("%s: %v", dir, err)
			}
		})
	}
	both.Wait()
	if got := calls(); len(got) != 1 {
		t.Errorf("mvn was called %q", got)
	}
}

func TestWaitForAnotherProcessIsBounded(t *testing.T) {
	fakeMaven(t, works)
	folder, err := some.folder()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := lockWithin(within(t), folder+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = some.Fetch(ctx, nil)
	if !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
}

func TestCoordinatesArePinned(t *testing.T) {
	for _, c := range []string{"g:a", "g:a:[1,2)", "g:a:1:jar", "g:<a>:1", "g:a:1\n"} {
		a := Artifacts{Name: "x", Coordinates: []string{c}}
		if _, err := a.Fetch(within(t), nil); err == nil {
			t.Errorf("%q is accepted", c)
		}
	}
}

// fakeJava makes a java that prints this version.
func fakeJava(t *testing.T, version string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncat >&2 <<'END'\n" + version + "\nEND\n"
	if err := os.WriteFile(filepath.Join(home, "bin", "java"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestFindJava(t *testing.T) {
	for version, want := range map[string]string{
		`openjdk version "17.0.15" 2025-04-15`: "",
		`java version "21" 2023-09-19`:         "",
		`openjdk version "25-ea"`:              "",
		`something else`:                       "",
		`openjdk version "11.0.2" 2019-01-15`:  "lacks Java 17 or newer (",
		`java version "1.8.0_392"`:             "is Java 8, and JAVA_HOME may name another)",
	} {
		t.Setenv("JAVA_HOME", fakeJava(t, version))
		_, err := findJava()
		if want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", version, err)
		}
	}
	t.Setenv("JAVA_HOME", t.TempDir())
	_, err := findJava()
	if err == nil || !strings.Contains(err.Error(), "has no bin/java: correct it") {
		t.Errorf("a wrong JAVA_HOME: %v", err)
	}
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	_, err = findJava()
	const want = "this machine lacks Java 17 or newer: install the package " +
		"default-jre-headless (Debian, Ubuntu), or give the target the endpoints of running " +
		"servers"
	if err == nil || err.Error() != want {
		t.Errorf("no java: %v", err)
	}
	if _, err := findMaven(); err == nil ||
		!strings.Contains(err.Error(), "lacks Maven, which fetches the servers: install the "+
			"package maven (") {
		t.Errorf("no mvn: %v", err)
	}
}

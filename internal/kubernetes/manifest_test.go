package kubernetes

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-bench/plimsoll/internal/golden"
)

func example() *Manifest {
	return &Manifest{
		Name: "plimsoll", Image: "plimsoll:v1", Workers: 3,
		Worker: Resources{"2", "2Gi"}, Coordinator: Resources{"500m", "512Mi"}, Storage: "10Gi",
		Args: []string{"run", "-w", FilesFolder + "/workload.yaml", "--rate", "10k/s", "$(HOME)"},
		Files: []File{
			{"workload.yaml", "name: w\nload:\n  rate: 10k/s\n\n  # a comment\ntopics: 1\n"},
			{"target-1.yaml", "system: x\nendpoints: [\"a:1\"]\ncredentials: {user_env: BROKER_USER}\n"},
		},
		Secret: "broker", Variables: []string{"BROKER_USER"},
		Identity: "-----BEGIN X-----\naaaa\n-----END X-----\n", JoinToken: "join.token",
		PageToken: "page-token",
	}
}

func TestManifest(t *testing.T) {
	full := example()
	full.Name, full.Namespace, full.CreateNamespace, full.StorageClass = "peak-1", "load", true, "fast"
	hosts := example()
	hosts.Hosts, hosts.Host, hosts.HostStorage = 3, Resources{"2", "4Gi"}, "20Gi"
	bare := example()
	bare.Secret, bare.Variables, bare.Files = "", nil, nil
	for name, m := range map[string]*Manifest{"plain": example(), "full": full,
		"bare": bare, "hosts": hosts} {
		t.Run(name, func(t *testing.T) {
			text, err := m.YAML()
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/"+name+".yaml", text)
			decode(t, text)
		})
	}
}

// objects are the objects of a manifest, as Kubernetes reads it.
type objects struct {
	jobs     map[string]*batchv1.Job
	reader   *appsv1.Deployment
	secrets  map[string]*corev1.Secret
	files    *corev1.ConfigMap
	policies map[string]*networkingv1.NetworkPolicy
	names    []string // kind and name of each
}

// decode reads a manifest with Kubernetes' own types, and refuses a field that these lack.
func decode(t *testing.T, text string) (o objects) {
	t.Helper()
	o.jobs, o.secrets = map[string]*batchv1.Job{}, map[string]*corev1.Secret{}
	o.policies = map[string]*networkingv1.NetworkPolicy{}
	for one := range strings.SplitSeq(text, "\n---\n") {
		one += "\n"
		var head struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := yaml.Unmarshal([]byte(one), &head); err != nil {
			t.Fatalf("%v in\n%s", err, one)
		}
		kinds := map[string]any{
			"Namespace": new(corev1.Namespace), "Secret": new(corev1.Secret),
			"ConfigMap": new(corev1.ConfigMap), "Service": new(corev1.Service),
			"PersistentVolumeClaim": new(corev1.PersistentVolumeClaim),
			"Job":                   new(batchv1.Job), "Deployment": new(appsv1.Deployment),
			"NetworkPolicy": new(networkingv1.NetworkPolicy),
		}
		into := kinds[head.Kind]
		if into == nil {
			t.Fatalf("a %s is not expected", head.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(one), into); err != nil {
			t.Fatalf("%s %s: %v", head.Kind, head.Metadata.Name, err)
		}
		o.names = append(o.names, head.Kind+" "+head.Metadata.Name+" "+head.Metadata.Namespace)
		switch v := into.(type) {
		case *batchv1.Job:
			o.jobs[v.Name] = v
		case *appsv1.Deployment:
			o.reader = v
		case *corev1.Secret:
			o.secrets[v.Name] = v
		case *corev1.ConfigMap:
			o.files = v
		case *networkingv1.NetworkPolicy:
			o.policies[v.Name] = v
		}
	}
	return o
}

// Whatever a text holds, Kubernetes reads exactly this text.
func TestTextsComeBack(t *testing.T) {
	for _, odd := range []string{"", "\n", " a\n", "a", "a\n\n", "a\n---\nb: c\n", "\ta\n", "a\tb\n",
		"é\u2028\x00\"\\'#{}: &*!|>%@`\n", "no\n", "1\n", "$(HOME)", "a\n  b\n\n c\n", "\u0085x\n"} {
		m := example()
		m.Files = []File{{"f", odd}}
		m.Args, m.Identity, m.PageToken = []string{odd}, odd, odd
		text, err := m.YAML()
		if err != nil {
			t.Fatal(err)
		}
		o := decode(t, text)
		if got := o.files.Data["f"]; got != odd {
			t.Errorf("the file %q came as %q", odd, got)
		}
		if got := o.secrets["plimsoll-identity"].StringData["identity"]; got != odd {
			t.Errorf("the secret %q came as %q", odd, got)
		}
		args := o.jobs["plimsoll-coordinator"].Spec.Template.Spec.Containers[0].Args
		if got := strings.ReplaceAll(args[0], "$$(", "$("); got != odd {
			t.Errorf("the argument %q came as %q", odd, got)
		}
	}
}

// Every pod meets the restricted profile, is Guaranteed its resources, and is never replaced.
func TestPodsMayDoLittle(t *testing.T) {
	text, err := example().YAML()
	if err != nil {
		t.Fatal(err)
	}
	o := decode(t, text)
	pods := map[string]corev1.PodSpec{"reader": o.reader.Spec.Template.Spec}
	for name, job := range o.jobs {
		pods[name] = job.Spec.Template.Spec
		if p := job.Spec.PodReplacementPolicy; p == nil || *p != batchv1.Failed {
			t.Errorf("%s: a pod may have two at a time", name)
		}
		if job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s: its container is started again", name)
		}
	}
	if len(pods) != 3 {
		t.Fatalf("%d kinds of pods", len(pods))
	}
	for name, pod := range pods {
		s := pod.SecurityContext
		if !*s.RunAsNonRoot || *s.RunAsUser == 0 ||
			s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
			*pod.AutomountServiceAccountToken {
			t.Errorf("%s: %+v", name, s)
		}
		for _, c := range pod.Containers {
			s := c.SecurityContext
			if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
				len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("%s: %+v", name, s)
			}
			if len(c.Resources.Requests) != 2 || !cmp.Equal(c.Resources.Requests, c.Resources.Limits) {
				t.Errorf("%s: requests are not its limits", name)
			}
		}
	}
	workers := o.jobs["plimsoll-worker"].Spec
	if *workers.Completions != 3 || *workers.Parallelism != 3 || *workers.BackoffLimitPerIndex != 0 ||
		*workers.CompletionMode != batchv1.IndexedCompletion {
		t.Errorf("the workers' job is %+v", workers)
	}
}

// Workers have the join token, but neither the identity nor a secret of the target.
func TestWhoHasWhichSecret(t *testing.T) {
	text, err := example().YAML()
	if err != nil {
		t.Fatal(err)
	}
	o := decode(t, text)
	named := func(pod corev1.PodSpec) (all []string) {
		for _, v := range pod.Volumes {
			if v.Secret != nil {
				all = append(all, v.Secret.SecretName)
			}
		}
		for _, e := range pod.Containers[0].Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				all = append(all, e.ValueFrom.SecretKeyRef.Name+"/"+e.ValueFrom.SecretKeyRef.Key)
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		pod  corev1.PodSpec
		want []string
	}{
		"coordinator": {o.jobs["plimsoll-coordinator"].Spec.Template.Spec,
			[]string{"plimsoll-identity", "broker", "broker/BROKER_USER"}},
		"worker": {o.jobs["plimsoll-worker"].Spec.Template.Spec, []string{"plimsoll-join"}},
		"reader": {o.reader.Spec.Template.Spec, []string{"plimsoll-page/token"}},
	} {
		if got := named(c.pod); !cmp.Equal(got, c.want) {
			t.Errorf("the %s has %v, want %v", name, got, c.want)
		}
	}
}

func TestWrongManifests(t *testing.T) {
	for _, c := range []struct {
		change func(m *Manifest)
		want   string
	}{
		{func(m *Manifest) { m.Name = "A b" }, `"A b" is not a valid name`},
		{func(m *Manifest) { m.Name = strings.Repeat("a", 41) }, "up to 40"},
		{func(m *Manifest) { m.Namespace = "x/y" }, "namespace"},
		{func(m *Manifest) { m.CreateNamespace = true }, "no name"},
		{func(m *Manifest) { m.Workers = 0 }, "from 1 to 1000"},
		{func(m *Manifest) { m.Workers = 1001 }, "from 1 to 1000"},
		{func(m *Manifest) { m.Image = "a\nb" }, "image"},
		{func(m *Manifest) { m.Worker.CPU = "0" }, "CPU"},
		{func(m *Manifest) { m.Worker.CPU = "2 cores" }, "CPU"},
		{func(m *Manifest) { m.Coordinator.Memory = "2GB" }, "memory"},
		{func(m *Manifest) { m.Storage = "10" }, "volume"},
		{func(m *Manifest) { m.Secret = "" }, "reads BROKER_USER from the environment"},
		{func(m *Manifest) { m.Variables = []string{"A-B"} }, "variable"},
		{func(m *Manifest) { m.Files[0].Text = strings.Repeat("a", 1<<20) }, "ConfigMap"},
	} {
		m := example()
		c.change(m)
		if _, err := m.YAML(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// The types of Kubernetes are for tests: plimsoll itself never speaks to a cluster.
func TestKubernetesStaysOutOfTheProgram(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../../cmd/plimsoll").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		for _, refused := range []string{"k8s.io/api/", "k8s.io/client-go/kubernetes",
			"k8s.io/client-go/rest"} {
			if strings.HasPrefix(line, refused) {
				t.Errorf("plimsoll has %s", line)
			}
		}
	}
}

#!/bin/bash
# The inside of the cluster that the test starts: PID 1 of namespaces for processes, mounts and the
# network. Everything ends when it ends.
#
#   cluster.sh control   the control plane, and a node beside it for each of NODES
#   cluster.sh node N    node N
#
# TOOLS has bin/kubeall, bin/coredns, root (unpacked packages of Debian) and images/pause.tar.
# RUN is a folder of the cluster's own, and IMAGES are archives that every node gets.
set -eu
KUBE=$TOOLS/bin/kubeall
SELF=$(readlink -f "$0")
MASTER=10.99.0.2
GROUP=plimsoll-kubernetes
export PATH=$TOOLS/root/usr/bin:$TOOLS/root/usr/sbin:$PATH
export LD_LIBRARY_PATH=$TOOLS/root/usr/lib/x86_64-linux-gnu
cd "$RUN"

# up ADDRESS GATEWAY: waits for the network that the outside gives, and takes it.
up() {
	until [ -e /proc/sys/net/ipv4/conf/eth0 ]; do sleep 0.05; done
	ip link set lo up
	ip addr add "$1/24" dev eth0
	ip link set eth0 up
	ip route add default via "$2"
	echo 1 >/proc/sys/net/ipv4/ip_forward
}

# config NAME: the way of a user, whose token is NAME-token, to the API server.
config() {
	cat >"$1.kubeconfig" <<E
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://$MASTER:6443", certificate-authority: "$RUN/certs/apiserver.crt"}}]
users: [{name: u, user: {token: $1-token}}]
E
}

# sysctls shows the kubelet the values that it insists on, and leaves those of the machine alone.
sysctls() {
	mkdir -p sysctl
	local pair file
	for pair in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
		kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
		file=/proc/sys/${pair%=*}
		[ -e "$file" ] || continue
		echo "${pair#*=}" >"sysctl/${file//\//.}"
		mount --bind "sysctl/${file//\//.}" "$file"
	done
}

users() {
	echo 'admin-token,admin,1,"system:masters"'
	echo 'dns-token,dns,2,"system:masters"'
	echo 'manager-token,system:kube-controller-manager,3'
	echo 'scheduler-token,system:kube-scheduler,4'
	echo 'proxy-token,system:kube-proxy,5'
	local n
	for n in $(seq "$NODES"); do echo "node$n-token,system:node:node$n,1$n,\"system:nodes\""; done
}

control() {
	mount --make-rprivate /
	sysctls
	mkdir -p certs log
	up $MASTER 10.99.0.1
	openssl genrsa -out certs/accounts.key 2048 2>/dev/null
	users >users.csv
	local n user
	for user in admin dns manager scheduler proxy; do config $user; done
	$KUBE etcd --data-dir etcd --unsafe-no-fsync --listen-client-urls http://127.0.0.1:2379 \
		--advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 \
		>log/etcd 2>&1 &
	$KUBE apiserver --etcd-servers=http://127.0.0.1:2379 --cert-dir=certs --bind-address=0.0.0.0 \
		--advertise-address=$MASTER --secure-port=6443 --service-cluster-ip-range=10.96.0.0/24 \
		--token-auth-file=users.csv --authorization-mode=Node,RBAC \
		--enable-admission-plugins=NodeRestriction --allow-privileged \
		--service-account-issuer=https://kubernetes.default.svc \
		--service-account-key-file=certs/accounts.key \
		--service-account-signing-key-file=certs/accounts.key \
		--kubelet-preferred-address-types=InternalIP >log/apiserver 2>&1 &
	for n in $(seq "$NODES"); do
		config "node$n"
		unshare --net --mount bash "$SELF" node "$n" >"log/node$n" 2>&1 &
		local pid=$!
		until [ "$(readlink /proc/$pid/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do
			sleep 0.02
		done
		ip link add "node$n" type veth peer name eth0 netns $pid
		ip addr add "10.99.$n.1/24" dev "node$n"
		ip link set "node$n" up
		ip route add "10.244.$n.0/24" via "10.99.$n.2"
	done
	until $KUBE kubectl --kubeconfig=admin.kubeconfig get --raw /readyz >/dev/null 2>&1; do
		sleep 0.2
	done
	touch ready
	$KUBE controller-manager --kubeconfig=manager.kubeconfig --leader-elect=false \
		--use-service-account-credentials --bind-address=127.0.0.1 \
		--service-account-private-key-file=certs/accounts.key \
		--root-ca-file=certs/apiserver.crt >log/manager 2>&1 &
	$KUBE scheduler --kubeconfig=scheduler.kubeconfig --leader-elect=false \
		--bind-address=127.0.0.1 >log/scheduler 2>&1 &
	cat >Corefile <<E
cluster.local {
  errors
  kubernetes cluster.local {
    kubeconfig $RUN/dns.kubeconfig
    ttl 1
  }
}
E
	"$TOOLS/bin/coredns" -conf Corefile >log/dns 2>&1 &
	wait
}

containerd_config() {
	cat <<E
version = 2
root = "$HOME_OF/containerd"
state = "/run/containerd"
[grpc]
  address = "$HOME_OF/cri.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "pause:local"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$TOOLS/root/usr/lib/cni"
    conf_dir = "$HOME_OF/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
E
}

kubelet_config() {
	cat <<E
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://$HOME_OF/cri.sock
cgroupDriver: cgroupfs
cgroupRoot: /$GROUP/n$1
failSwapOn: false
failCgroupV1: false
oomScoreAdj: 0
resolvConf: $HOME_OF/resolv.conf
clusterDNS: [$MASTER]
clusterDomain: cluster.local
volumePluginDir: $HOME_OF/plugins
evictionHard: {memory.available: "100Mi", nodefs.available: "1%", imagefs.available: "1%", nodefs.inodesFree: "1%"}
imageGCHighThresholdPercent: 100
E
}

node() {
	local n=$1 controller folder file
	HOME_OF=$RUN/node$n
	mkdir -p "$HOME_OF"/{var,work,cni}
	cd "$HOME_OF"
	mount --make-rprivate /
	mount -t overlay overlay -o "lowerdir=/var,upperdir=$HOME_OF/var,workdir=$HOME_OF/work" /var
	mount -t tmpfs tmpfs /run
	mount --make-rshared /
	for controller in cpu cpuacct cpuset memory devices freezer blkio pids systemd; do
		[ ! -d /sys/fs/cgroup/$controller ] || mkdir -p /sys/fs/cgroup/$controller/$GROUP/n"$n"
	done
	for folder in $GROUP $GROUP/n"$n"; do
		for file in cpuset.cpus cpuset.mems; do
			cat /sys/fs/cgroup/cpuset/$file >"/sys/fs/cgroup/cpuset/$folder/$file"
		done
	done
	up "10.99.$n.2" "10.99.$n.1"
	cat >cni/10-bridge.conflist <<E
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "pods0",
 "isGateway": true, "hairpinMode": true, "ipam": {"type": "host-local",
 "ranges": [[{"subnet": "10.244.$n.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
E
	containerd_config >containerd.toml
	containerd -c containerd.toml >"../log/containerd$n" 2>&1 &
	until ctr -a cri.sock version >/dev/null 2>&1; do sleep 0.1; done
	for file in "$TOOLS/images/pause.tar" $IMAGES; do
		ctr -a cri.sock -n k8s.io images import "$file"
	done
	: >resolv.conf
	kubelet_config "$n" >kubelet.yaml
	until [ -e ../ready ]; do sleep 0.1; done
	$KUBE proxy --kubeconfig=../proxy.kubeconfig --proxy-mode=nftables \
		--hostname-override="node$n" --cluster-cidr=10.244.0.0/16 --conntrack-max-per-core=0 \
		--conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0 \
		--healthz-bind-address=127.0.0.1:10256 >"../log/proxy$n" 2>&1 &
	exec $KUBE kubelet --config=kubelet.yaml --kubeconfig="../node$n.kubeconfig" \
		--hostname-override="node$n" --node-ip="10.99.$n.2" --root-dir=/var/lib/kubelet \
		--cert-dir="$HOME_OF/certs" >"../log/kubelet$n" 2>&1
}

"$@"

# shellcheck shell=bash
# Runs a Slurm cluster of two nodes, n1 and n2, on this machine, without systemd and independent of any other Slurm: the
# cluster has its own key and ports, and keeps everything in one folder. Scripts source this file. It needs root. Each
# node has two processors and two GPUs that exist only in Slurm's configuration.
#   cluster_start FOLDER     starts the cluster, and sets SLURM_CONF for sbatch, srun and scontrol
#   cluster_stop             stops the jobs and the daemons that it started, by their process ids

cluster_missing() {
  [ "$(id -u)" -eq 0 ] || echo "root (slurmd starts jobs in the name of users)"
  unshare --mount --uts true 2>/dev/null || echo "leave to make namespaces (unshare --mount --uts)"
  local program
  for program in munged mungekey slurmctld slurmd sbatch srun scontrol; do
    [ -n "$(PATH=$PATH:/usr/sbin command -v "$program")" ] || echo "$program (scripts/install-packages slurm)"
  done
}

cluster_pids=()

# cluster_daemon LOG COMMAND...: runs in the background, writes its output to LOG, and records its process id.
cluster_daemon() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null &
  cluster_pids+=($!)
}

cluster_config() {
  local folder=$1 port=$2 host
  host=$(hostname -s)
  cat >"$folder/slurm.conf" <<CONF
ClusterName=mokume
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A requeued job may start again once its old credential has expired: after 2 minutes by default.
AuthInfo=socket=$folder/munge.socket,cred_expire=10
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdSpoolDir=$folder/spool-%n
TmpFS=$folder/tmp
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=1,sched_interval=5
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
GresTypes=gpu
NodeName=n1 NodeHostname=n1 NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 Gres=gpu:2
NodeName=n2 NodeHostname=n2 NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 Gres=gpu:2
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONF
  # Slurm requires a device file for each GPU.
  printf 'Name=gpu File=%s\n' /dev/null /dev/zero >"$folder/gres.conf"
  mkdir -p "$folder/state" "$folder/tmp"
}

# Each node has its own hostname and folder for temporary files, because Slurm's PMIx server expects to be alone there.
cluster_node() {
  local folder=$1 node=$2
  mkdir -p "$folder/spool-$node" "$folder/tmp-$node"
  cluster_daemon "$folder/slurmd-$node.log" unshare --mount --uts bash -c \
    'hostname "$2" && mount --bind "$1/tmp-$2" "$1/tmp" && exec slurmd -D -N "$2"' node "$folder" "$node"
}

# cluster_wait SECONDS COMMAND...: waits until the command succeeds, or fails after this time.
cluster_wait() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

cluster_ready() { [ "$(sinfo -h -N -o '%N %t' | grep -c ' idle$')" -eq 2 ]; }

cluster_start() {
  local folder=$1
  PATH=$PATH:/usr/sbin
  export SLURM_CONF=$folder/slurm.conf
  cluster_config "$folder" $((20000 + $$ % 10000))
  mungekey --create --keyfile "$folder/munge.key"
  cluster_daemon "$folder/munged.out" munged --foreground --force --key-file "$folder/munge.key" \
    --socket "$folder/munge.socket" --pid-file "$folder/munged.pid" --log-file "$folder/munged.log" \
    --seed-file "$folder/munge.seed"
  cluster_wait 10 munge -n --socket "$folder/munge.socket" || { cat "$folder/munged.out" >&2; return 1; }
  cluster_daemon "$folder/slurmctld.log" slurmctld -D -c
  cluster_node "$folder" n1
  cluster_node "$folder" n2
  cluster_wait 60 cluster_ready && return
  tail -n 20 "$folder"/slurm*.log >&2
  return 1
}

cluster_stop() {
  [ ${#cluster_pids[@]} -gt 0 ] || return 0
  if [ ${#cluster_pids[@]} -gt 1 ]; then
    squeue -h -o %A | while read -r job; do scancel "$job"; done
    cluster_wait 60 eval '[ -z "$(squeue -h)" ]' || echo "jobs are still there: $(squeue -h -o %A)" >&2
  fi
  local k
  for ((k = ${#cluster_pids[@]} - 1; k >= 0; --k)); do
    kill "${cluster_pids[k]}" 2>/dev/null && wait "${cluster_pids[k]}"
  done
  cluster_pids=()
}

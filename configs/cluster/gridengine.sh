#!/bin/bash
# Grid Engine: mokume on several nodes, back into the queue at the time limit until the run is complete.
# Copy, edit, submit:   qsub gridengine.sh experiment.toml [options of `mokume run`, but not --fresh]
# Libraries of your own: add --plugins DIR, with DIR from /, to these options. A job that is queued again repeats them.
#$ -N mokume
#$ -cwd                            # start where qsub was called
#$ -V                              # with the variables of that shell; PATH is often set anew, see below
#$ -j y                            # one output file
#$ -pe mpi 32                      # slots (cores) in the site's parallel environment: `qconf -spl` lists them
#$ -l gpu=2                        # GPUs; the name of the resource differs between sites: `qconf -sc`
#$ -l h_rt=04:00:00                # killed then
#$ -l s_rt=03:58:00                # USR1 comes then: two minutes to save what is in work
#$ -notify                         # USR1 before a suspension, USR2 before a kill (qdel), by the queue's `notify` time
#$ -r y                            # start again after the loss of a node, too

# Grid Engine starts a login shell. mokume must be found in it on every node: a shared folder, or a module of the site.
# export PATH="$HOME/mokume/build/release/bin:$PATH"

signalled=1 again=
drain() {
  signalled=1
  # mpirun forwards USR2 to every rank. USR1 is lost where PoCL is installed: LLVM discards it inside mpirun.
  kill -USR2 "$launcher" 2>/dev/null
}
trap 'again=1; drain' USR1  # the limit is near, or the queue suspends its jobs
trap drain USR2             # qdel: save what is in work, but stay out of the queue

# One rank per node, not bound to a core. mpirun must have been built with Grid Engine support
# (`ompi_info | grep gridengine`). Not with --enable-recovery: mpirun's exit code would be 0 whatever happens.
mpirun --map-by ppr:1:node --bind-to none mokume run "$@" &
launcher=$!

# A signal ends `wait` early: the status of the ranks is that of the last one.
while [ "$signalled" = 1 ]; do
  signalled=0
  wait "$launcher"
  status=$?
done
trap '' USR1 USR2

# 75 comes from a full disk, too: only what was stopped by its limit queues up again, which Grid Engine does at 99.
if [ "$status" -eq 75 ] && [ -n "$again" ]; then exit 99; fi
exit "$status"

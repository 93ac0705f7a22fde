"""The keywords of Slurm's configuration: which decide about scheduling, and which do not."""

from __future__ import annotations

import re

from queuesmith.workload.slurm_text import words_of

#: What decides when and where jobs run; kept as text, for policies that do as Slurm does.
SCHEDULING = (
    "AccountingStorageEnforce",
    "AccountingStorageTRES",
    "AuthInfo",
    "BatchStartTimeout",
    "BOOT_TIME",
    "CompleteWait",
    "DefCPUPerGPU",
    "DefMemPerCPU",
    "DefMemPerGPU",
    "DefMemPerNode",
    "EnforcePartLimits",
    "EpilogMsgTime",
    "FairShareDampeningFactor",
    "FastSchedule",
    "FirstJobId",
    "GresTypes",
    "JobRequeue",
    "KillWait",
    "LaunchParameters",
    "Licenses",
    "MaxArraySize",
    "MaxJobCount",
    "MaxMemPerCPU",
    "MaxMemPerNode",
    "MinJobAge",
    "OverTimeLimit",
    "PreemptExemptTime",
    "PreemptMode",
    "PreemptParameters",
    "PreemptType",
    "PriorityCalcPeriod",
    "PriorityDecayHalfLife",
    "PriorityFavorSmall",
    "PriorityFlags",
    "PriorityMaxAge",
    "PriorityParameters",
    "PrioritySiteFactorPlugin",
    "PriorityType",
    "PriorityUsageResetPeriod",
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
    "ReservationOverRun",
    "ResvOverRun",
    "ResumeTimeout",
    "ReturnToService",
    "SchedulerParameters",
    "SchedulerTimeSlice",
    "SchedulerType",
    "SelectType",
    "SelectTypeParameters",
    "SuspendTime",
    "TopologyParam",
    "TopologyPlugin",
    "UnkillableStepTimeout",
    "VSizeFactor",
)

#: What does not: daemons, ports, paths, logs, security, plug-ins that gather data.
_ELSEWHERE = re.compile(
    "acctgather|accountingstor|allowspec|auth|backup|batch|bcast|burstbuffer|cachegroups|"
    "certgen|certmgr|cgroup|checkpoint|cli|cluster|comm|control|core|cred|cpufreq|crypto|datapar|"
    "debugflags|default.*port|defaultstorage|dependency|disableroot|eio|epilog|extsensors|"
    "federation|forcecheck|frontend|gettimeout|gpufreq|group|hash|health|hostname|http|inactive|"
    "interactive|jobacct|jobcomp|jobcontainer|jobcredential|jobfile|jobsubmit|keepalive|"
    "killonbadexit|log|mail|maxbatch|maxdbd|maxjobid|maxnodecount|maxstep|maxtasks|mcs|"
    "message|metrics|mpi|namespace|next_?job|node_?features|plug|power|priorityusagefile|"
    "privatedata|proctrack|prolog|propagate|reboot|reconfig|requeueexit|resume|resv|route|salloc|"
    "sbcast|sched(uler)?(log|port|rootfilter|auth)|scron|site|slurm|srun|state|suspend|switch|task|"
    "tcp|tls|tmp|track|tree|unkillable|usepam|usespec|wait|wckey|x11|abort"
)

_BY_LOWER = {name.lower(): name for name in SCHEDULING}


#: The keywords of a node's line that describe it, and those that do not matter to a replay.
NODE_WORDS = words_of(
    """
    nodename cpus procs boards sockets socketsperboard corespersocket threadspercore
    realmemory gres feature features availablefeatures activefeatures weight state reason
    corespeccount cpuspeclist memspeclimit cputot cpuefctv
    """
)
NODE_WORDS_ELSEWHERE = words_of(
    """
    nodeaddr nodehostname port bcastaddr tmpdisk cores parameters extra comment certtoken
    dynamicnorm topology gresdrain gresused allocmem allocnode freemem cpualloc cpuload arch
    os version boottime slurmdstarttime lastbusytime lastbusy owner mcs_label nextstate
    partitions cfgtres alloctres capwatts currentwatts averagewatts lowestjoules
    consumedjoules externsensorsjoules externsensorswatts externsensorstemp extsensorsjoules
    extsensorswatts extsensorstemp resumeaftertime reservation instanceid instancetype gpuspec
    restrictedcorespergpu rescorespergpu cpuerr resumetimeout suspendtime suspendtimeout
    """
)
#: The same of a partition's line.
PARTITION_WORDS = words_of(
    """
    partitionname nodes default state maxtime defaulttime minnodes maxnodes maxcpuspernode
    defmempercpu defmempernode maxmempercpu maxmempernode priority priorityjobfactor
    prioritytier oversubscribe shared exclusiveuser allowaccounts denyaccounts allowqos
    denyqos allowgroups qos lln preemptmode gracetime tresbillingweights
    """
)
PARTITION_WORDS_ELSEWHERE = words_of(
    """
    allocnodes allownodes alternate cpubind defcpupergpu defmempergpu disablerootjobs hidden
    reqresv rootonly resumetimeout suspendtime suspendtimeout selecttypeparameters
    maxcpuspersocket powerdownonidle totalcpus totalnodes nodesets
    overtimelimit jobdefaults tres exclusivetopo topology nodelist allocnode selecttype
    """
)


def scheduling_word(keyword: str) -> str | None:
    """Return Slurm's spelling of a keyword that decides about scheduling; None if it is none."""
    return _BY_LOWER.get(keyword.lower())


def means_nothing_here(keyword: str) -> bool:
    """Tell whether a keyword is one of Slurm's that does not decide when and where jobs run."""
    return _ELSEWHERE.match(keyword.lower()) is not None

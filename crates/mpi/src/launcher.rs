//! The launcher of this process, found from the environment.

use std::path::{Path, PathBuf};

/// A program that starts the ranks of an MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// The mpirun of Open MPI.
    OpenMpi,
    /// The mpiexec of MPICH, Intel MPI and their derivatives.
    Hydra,
    /// Slurm's srun, with any of its interfaces.
    Srun,
}

impl Launcher {
    /// Usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI's mpirun",
            Self::Hydra => "mpiexec (hydra)",
            Self::Srun => "srun",
        }
    }

    /// The launcher that a program belongs to, from the program's name.
    pub(crate) fn of(program: &Path) -> Option<Self> {
        let name = program.file_name()?.to_str()?;
        let open_mpi = ["orterun", "orted", "prterun", "prted", "prte"];
        let hydra = ["hydra_pmi_proxy", "hydra_bstrap_proxy", "mpiexec.hydra", "mpiexec.mpich"];
        let of = |names: &[&str], launcher| names.contains(&name).then_some(launcher);
        of(&open_mpi, Self::OpenMpi).or_else(|| of(&hydra, Self::Hydra))
    }
}

/// The environment's description of the run that this process belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The launcher.
    pub by: Launcher,
    /// This process's rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
}

/// The run that this process belongs to; `None` if no launcher started it.
pub fn started() -> Option<Started> {
    started_in(|name| std::env::var(name).ok())
}

/// Reads the rank and size from each launcher's variables. Slurm's are also set in a job's script;
/// only srun sets the nodes of a step.
fn started_in(variable: impl Fn(&str) -> Option<String>) -> Option<Started> {
    let number = |name: &str| variable(name)?.parse().ok();
    let by_srun = variable("SLURM_STEP_NODELIST").is_some();
    let pmi = match by_srun && variable("HYDI_CONTROL_FD").is_none() {
        true => Launcher::Srun,
        false => Launcher::Hydra,
    };
    let mut all = vec![
        (Launcher::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        (pmi, "PMI_RANK", "PMI_SIZE"),
    ];
    if by_srun {
        all.push((Launcher::Srun, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"));
        all.push((Launcher::Srun, "SLURM_PROCID", "SLURM_NTASKS"));
    }
    all.into_iter()
        .find_map(|(by, rank, size)| Some(Started { by, rank: number(rank)?, size: number(size)? }))
}

/// How many ancestors of this process may be its launcher.
const PARENTS: usize = 4;

/// This process's ancestors that are launchers, the nearest first: their folders in `/proc`, and their programs.
fn launchers() -> Vec<(PathBuf, PathBuf)> {
    let parent = |process: &PathBuf| {
        let status = std::fs::read_to_string(process.join("status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        Some(Path::new("/proc").join(parent.trim()))
    };
    let all = std::iter::successors(Some(PathBuf::from("/proc/self")), parent).skip(1);
    let named = all.take(PARENTS).filter_map(|process| {
        let program = std::fs::read_link(process.join("exe")).ok()?;
        Launcher::of(&program).map(|_| (process, program))
    });
    named.collect()
}

/// The folder with the `bin` and `lib` of the launcher among this process's ancestors.
pub(crate) fn prefix() -> Option<PathBuf> {
    launchers().first()?.1.ancestors().nth(2).map(Path::to_owned)
}

/// The command that started the ranks, up to the program of the ranks; the launcher's name if its command is not known.
pub fn command() -> Option<String> {
    let (process, _) = launchers().pop().unwrap_or_default();
    let line = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
    up_to(&line, &std::env::current_exe().unwrap_or_default())
        .or_else(|| started().map(|started| started.by.name().to_owned()))
}

/// The words of a command line before the program of this name; `None` if there are none.
fn up_to(line: &str, own: &Path) -> Option<String> {
    let is_own = |word: &&str| Path::new(word).file_name() == own.file_name();
    let words: Vec<&str> = line.split_terminator('\0').take_while(|word| !is_own(word)).collect();
    Some(words.join(" ")).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<(Launcher, usize, usize)> {
        let started = started_in(|name| {
            let found = variables.iter().find(|variable| variable.0 == name);
            found.map(|variable| variable.1.to_owned())
        });
        started.map(|started| (started.by, started.rank, started.size))
    }

    #[test]
    fn the_environment_tells_who_started_a_rank() {
        let ompi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
        let pmi = [("PMI_RANK", "2"), ("PMI_SIZE", "3")];
        let script = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")];
        let step = [("SLURM_STEP_NODELIST", "n0"), ("SLURM_PROCID", "5"), ("SLURM_NTASKS", "8")];
        let hydra = [("HYDI_CONTROL_FD", "9")];
        assert_eq!(of(&ompi), Some((Launcher::OpenMpi, 1, 4)));
        assert_eq!(of(&pmi), Some((Launcher::Hydra, 2, 3)));
        assert_eq!(of(&step), Some((Launcher::Srun, 5, 8)));
        // hydra starts its own helpers by srun.
        assert_eq!(of(&[&step[..], &pmi, &hydra].concat()), Some((Launcher::Hydra, 2, 3)));
        assert_eq!(of(&[&step[..], &pmi].concat()), Some((Launcher::Srun, 2, 3)));
        for nobody in [&[][..], &script, &[("PMI_RANK", "x"), ("PMI_SIZE", "3")], &ompi[..1]] {
            assert_eq!(of(nobody), None);
        }
    }

    #[test]
    fn a_command_is_told_up_to_the_program_of_the_ranks() {
        let of = |line| up_to(line, Path::new("bandgap"));
        assert_eq!(of("mpirun\0-n\02\0/a/bandgap\0rank\0").as_deref(), Some("mpirun -n 2"));
        assert_eq!(["", "\0", "/a/bandgap\0-n\0"].map(of), [None, None, None]);
    }
}

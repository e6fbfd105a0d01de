//! What a program prints, read while it runs: through a terminal, where it shows its progress, or a pipe.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::SoakError;
use crate::error::Doing;

/// The reading end.
#[derive(Debug)]
pub struct Screen {
    end: Option<OwnedFd>,
    bytes: Vec<u8>,
    /// After so many bytes nobody reads any more.
    most: usize,
    /// An end that stays open and is never read.
    _unread: Option<OwnedFd>,
}

/// Room of a pipe that nobody reads: a page, the least that there is.
const ROOM: usize = 4096;

impl Screen {
    /// A terminal, and what the program gets as a standard stream.
    ///
    /// # Errors
    /// The system has none.
    pub fn terminal() -> Result<(Self, Stdio), SoakError> {
        let what = || "make a terminal".to_owned();
        let end =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).doing(what)?;
        grantpt(&end).doing(what)?;
        unlockpt(&end).doing(what)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let theirs = ioctl_tiocgptpeer(&end, flags).doing(what)?;
        // Wide enough that no line of progress is cut.
        let size = Winsize { ws_row: 50, ws_col: 400, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&theirs, size).doing(what)?;
        fcntl_setfl(&end, OFlags::NONBLOCK).doing(what)?;
        Ok((
            Self { end: Some(end), bytes: Vec::new(), most: usize::MAX, _unread: None },
            Stdio::from(theirs),
        ))
    }

    /// A pipe, which is closed once `most` bytes have been read; and what the program gets.
    ///
    /// # Errors
    /// The system has none.
    pub fn pipe(most: usize) -> Result<(Self, Stdio), SoakError> {
        let (end, theirs) = pipe_with(PipeFlags::CLOEXEC).doing(|| "make a pipe".to_owned())?;
        fcntl_setfl(&end, OFlags::NONBLOCK).doing(|| "make a pipe".to_owned())?;
        let mut screen = Self { end: Some(end), bytes: Vec::new(), most, _unread: None };
        screen.close_if_enough();
        Ok((screen, Stdio::from(theirs)))
    }

    /// A pipe that is full, stays open and is never read; and what the program gets.
    ///
    /// # Errors
    /// The system has none.
    pub fn unread() -> Result<(Self, Stdio), SoakError> {
        let (end, theirs) = without_room().doing(|| "make a pipe and fill it".to_owned())?;
        Ok((Self { _unread: Some(end), ..Self::none() }, Stdio::from(theirs)))
    }

    /// Nothing to read.
    pub fn none() -> Self {
        Self { end: None, bytes: Vec::new(), most: 0, _unread: None }
    }

    /// Takes what is there.
    pub fn read(&mut self) {
        let mut some = [0; 4096];
        while let Some(end) = &self.end {
            match rustix::io::read(end, &mut some) {
                Ok(count) if count > 0 => self.bytes.extend_from_slice(&some[..count]),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                // A terminal whose other end is closed says EIO.
                _ => self.end = None,
            }
            self.close_if_enough();
        }
    }

    fn close_if_enough(&mut self) {
        if self.bytes.len() >= self.most {
            self.end = None;
        }
    }

    /// What was printed, without the terminal's commands.
    pub fn text(&self) -> String {
        plain(&String::from_utf8_lossy(&self.bytes))
    }
}

/// Both ends of a pipe that is full. Whoever writes to it waits.
fn without_room() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (end, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setpipe_size(&theirs, ROOM)?;
    let flags = fcntl_getfl(&theirs)?;
    fcntl_setfl(&theirs, flags | OFlags::NONBLOCK)?;
    loop {
        match rustix::io::write(&theirs, &[b' '; ROOM]) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error),
        }
    }
    fcntl_setfl(&theirs, flags)?;
    Ok((end, theirs))
}

/// The text without escape sequences (ECMA-48: from CSI to a final byte).
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        match next {
            '\u{1b}' => {
                if rest.next() == Some('[') {
                    rest.by_ref().find(|at| ('@'..='~').contains(at));
                }
            }
            '\r' => plain.push('\n'),
            other => plain.push(other),
        }
    }
    plain
}

/// How many batches a run had received at least, by the progress that it showed: `…, 37 batches`. Where the count begins
/// again, another measurement of the same run has begun.
pub fn batches_shown(text: &str) -> u64 {
    let counts = text.split(" batches").filter_map(|before| {
        let (_, count) = before.rsplit_once(", ")?;
        count.parse::<u64>().ok()
    });
    let (done, current) =
        counts.fold(
            (0, 0),
            |(done, current), count| {
                if count < current { (done + current, count) } else { (done, count) }
            },
        );
    done + current
}

/// The least, over all measurements of a run, of the per cent that each showed at last; `None` where none showed any. A
/// measurement has begun where a bar begins again.
pub fn least_progress(text: &str) -> Option<u64> {
    let mut shares = text.split('%').filter_map(|before| {
        let bar = before.rsplit('\n').next()?;
        let number = bar.rsplit(' ').next()?.parse().ok();
        number.filter(|share| *share <= 100 && bar.contains(['█', '░']))
    });
    let first = shares.next()?;
    let (least, last) = shares.fold((100, first), |(least, last): (u64, u64), share| {
        (if share < last { least.min(last) } else { least }, share)
    });
    Some(least.min(last))
}

/// How many results were printed at least, by the lines that begin with what over which transport they are of.
pub fn results_printed(text: &str) -> usize {
    let heads = text.lines().filter_map(|line| {
        let (what, over) = line.split_once(" over ")?;
        let over = over.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let known = ["LogP signature", "Round trip of a single request and reply"].contains(&what)
            || what.strip_suffix(" batches").is_some_and(|count| count.parse::<u64>().is_ok())
            || (!what.is_empty() && what.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        (known && ["shm", "tcp", "unix", "udp"].contains(&over)).then_some((what, over))
    });
    heads.collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn progress_is_counted_over_all_measurements_of_a_run() {
        assert_eq!(batches_shown("warming up\nround 1, 3 batches\nround 1, 9 batches\n"), 9);
        assert_eq!(batches_shown("a, 30 batches\na, 40 batches\nb, 5 batches\nb, 6 batches"), 46);
        assert_eq!(batches_shown("565 batches were set aside"), 0);
    }

    #[test]
    fn of_several_measurements_the_one_that_came_least_far_counts() {
        assert_eq!(least_progress("warming up, 30 % of it\n"), None);
        let bar = |share| format!(" shm ██░░ {share:>3}% round 1, 3 batches\n");
        let bars =
            |shares: &[u64]| least_progress(&shares.iter().map(|s| bar(*s)).collect::<String>());
        assert_eq!(bars(&[0, 50, 99, 100]), Some(100));
        assert_eq!(bars(&[0, 50]), Some(50));
        assert_eq!(bars(&[0, 99, 0, 100]), Some(99));
        assert_eq!(bars(&[0, 40, 0, 100]), Some(40));
    }

    #[test]
    fn each_result_that_was_printed_counts_once() {
        let text = "LogP signature over shm: one-to-one\nState cache line 2 ns\n\
            LogP signature over shm (one-to-one, 2 ranks)\n  a line over tcp\n\
            signature over shm: Contents compared: all 8\n19 batches over tcp without a fit: no\n\
            Lines of two words over tcp\ncomms1 over shm: time\n";
        assert_eq!(results_printed(text), 4);
        assert_eq!(results_printed(""), 0);
    }

    #[test]
    fn the_commands_of_a_terminal_are_no_text() {
        assert_eq!(plain("\u{1b}[2K\rshm \u{1b}[1;32m50 %\u{1b}[0m"), "\nshm 50 %");
    }

    fn of(screen: (Screen, Stdio), script: &str) -> (String, Option<i32>) {
        let (mut screen, theirs) = screen;
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).stdout(theirs).spawn().unwrap();
        // Holds the other end.
        drop(command);
        while screen.end.is_some() {
            screen.read();
            std::thread::yield_now();
        }
        (screen.text(), child.wait().unwrap().code())
    }

    #[test]
    fn a_terminal_is_one_and_a_pipe_is_none() {
        let asks = "test -t 1 && echo terminal || echo pipe";
        assert_eq!(of(Screen::terminal().unwrap(), asks).0.trim(), "terminal");
        assert_eq!(of(Screen::pipe(usize::MAX).unwrap(), asks).0.trim(), "pipe");
    }

    #[test]
    fn a_reader_that_has_read_enough_is_gone() {
        let script = "trap '' PIPE; echo 12345; while echo more; do :; done; exit 9";
        assert_eq!(of(Screen::pipe(4).unwrap(), script).1, Some(9));
    }
    #[test]
    fn who_writes_to_a_pipe_without_room_waits() {
        let (_end, theirs) = without_room().unwrap();
        let flags = fcntl_getfl(&theirs).unwrap();
        assert!(!flags.contains(OFlags::NONBLOCK), "a write would be refused");
        fcntl_setfl(&theirs, flags | OFlags::NONBLOCK).unwrap();
        assert_eq!(rustix::io::write(&theirs, b"x"), Err(Errno::AGAIN));
    }
}

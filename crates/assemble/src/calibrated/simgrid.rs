//! A SimGrid platform, and the command line with which messages cost the same there as here.

use std::fmt::Write as _;

use bandgap_results::words;
use bandgap_sim::EAGER;

use super::text::decimal;
use super::{Calibrated, Protocol};

/// Digits of a number in seconds, or of seconds a byte.
const DIGITS: usize = 15;
/// Bytes that SMPI adds to each message.
const HEADER: u64 = 16;

impl Calibrated {
    /// The platform: hosts with a link for each direction, with L and 1/G of the first protocol.
    pub fn simgrid_platform(&self, ranks: usize) -> String {
        let (latency, per_byte) = self.protocols.first().map_or((0.0, 0.0), base);
        let (bandwidth, latency) = (decimal(1.0 / per_byte, 3), decimal(latency, DIGITS));
        let mut text = "<?xml version='1.0'?>\n\
        <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
        <platform version=\"4.1\">\n <zone id=\"machine\" routing=\"Full\">\n"
            .to_owned();
        for rank in 0..ranks {
            let _ = writeln!(text, "  <host id=\"rank{rank}\" speed=\"1Gf\"/>");
        }
        let to = move |a| (0..ranks).filter(move |b| *b != a).map(move |b| (a, b));
        let pairs = || (0..ranks).flat_map(to);
        for (a, b) in pairs() {
            let _ = writeln!(
                text,
                "  <link id=\"{a}-{b}\" bandwidth=\"{bandwidth}Bps\" latency=\"{latency}s\"/>"
            );
        }
        for (a, b) in pairs() {
            let _ = writeln!(
                text,
                "  <route src=\"rank{a}\" dst=\"rank{b}\" symmetrical=\"NO\"><link_ctn id=\"{a}-{b}\"/></route>"
            );
        }
        text + " </zone>\n</platform>\n"
    }

    /// The command that runs a program on the platform file at `path`. Options in a file would have no effect, since
    /// smpirun passes its own first.
    ///
    /// SimGrid has no g. Its sections start above the lengths given; those of the two factors include SMPI's header.
    pub fn simgrid_command(&self, path: &str, ranks: usize) -> String {
        let sections = |header: u64, of: &dyn Fn(&Protocol) -> String| {
            let limits = self.protocols.iter().map(|of| of.up_to.saturating_add(header));
            let from = [0].into_iter().chain(limits);
            let all = from.zip(&self.protocols);
            all.map(|(from, protocol)| format!("{from}:{}", of(protocol)))
                .collect::<Vec<_>>()
                .join(";")
        };
        let seconds = |ns: f64| decimal(ns / 1e9, DIGITS);
        let send = sections(0, &|of| format!("{}:0", seconds(of.costs.send.value)));
        let recv = sections(0, &|of| format!("{}:0", seconds(of.costs.recv.value)));
        let first = self.protocols.first().map_or((0.0, 0.0), base);
        let latency = sections(HEADER, &|of| decimal(base(of).0 / first.0, 9));
        let bandwidth = sections(HEADER, &|of| decimal(first.1 / base(of).1, 9));
        let gap = decimal(self.gap.value, 3);
        let notes: String = self.notes.iter().map(|note| format!("# {}\n", words(note))).collect();
        format!(
            "# {}: without g ({gap} ns), which SimGrid has not\n{notes}\
         smpirun -np {ranks} -platform {} \\\n \
         --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:0 --cfg=network/weight-S:0 \\\n \
         '--cfg=smpi/lat-factor:{latency}' '--cfg=smpi/bw-factor:{bandwidth}' \\\n \
         '--cfg=smpi/os:{send}' '--cfg=smpi/ois:{send}' '--cfg=smpi/or:{recv}' \\\n \
         --cfg=smpi/async-small-thresh:{EAGER} --cfg=smpi/send-is-detached-thresh:{EAGER} \\\n \
         --cfg=smpi/simulate-computation:no PROGRAM\n",
            self.origin, path,
        )
    }
}

/// L in seconds, less the time for the header, and G in seconds per byte; both above 0, since they are divisors.
fn base(of: &Protocol) -> (f64, f64) {
    let (latency, per_byte) = (of.costs.latency.value, of.per_byte.value.max(1e-9));
    ((latency - HEADER as f64 * per_byte).max(1e-3) / 1e9, per_byte / 1e9)
}

//! What UCX tells of itself: its transports, those in use, and its build.

use std::path::Path;
use std::ptr::null_mut;

use bandgap_loader::Opened;
use bandgap_tagged::Fabric;
use bandgap_units::{Library, Ways};

use super::{Api, Raw, Ucx};
use crate::common::text;
use crate::structure::Structure;

/// `UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE` and `UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME`, behind which the values are.
pub(super) const CLAIM: (u64, usize) = (1, 8);
/// The longest message of which a claim is asked for: 2^22 B.
const CLAIMED: u32 = 22;

impl Ucx {
    /// `fabric`, the UCX that this process has loaded from here for another library, and its `build`.
    pub fn below(path: &Path) -> Vec<(String, String)> {
        let version = Opened::new(path).ok().and_then(|opened| {
            let api = Api::of(&opened, path).ok()?;
            // SAFETY: the function may be called at any time.
            Some(("fabric".to_owned(), format!("UCX {}", unsafe { text((api.version)()) })))
        });
        version.into_iter().chain(build(path)).collect()
    }

    /// The library, its build, and what it uses to reach another rank.
    pub(super) fn as_it_is(&self) -> Library {
        let mut is = Self::known(format!("UCX {}", self.version), &self.version, &self.path);
        is.facts.extend(build(&self.path));
        if let Some(&endpoint) = self.endpoints.iter().find(|of| !of.is_null()) {
            is.facts.insert("transports".to_owned(), self.used(endpoint).join(", "));
            let sizes = (0..=CLAIMED).map(|power| 1 << power);
            is.claims =
                sizes.filter_map(|size| Some((size, self.claim(endpoint, size)?))).collect();
        }
        is
    }

    /// The transports of a context, with devices. Lines such as: resource 2 : md 2 dev 2 flags -- posix/memory.
    pub(super) fn resources(&self, context: Raw) -> Ways {
        // SAFETY: the context has been made, and the stream is open.
        let told = printed(|stream| unsafe { (self.api.print_info)(context, stream) });
        let lines = told.lines().filter(|line| line.contains("resource "));
        let all = lines.filter_map(|line| line.rsplit([' ', '\t']).next()?.split_once('/'));
        let mut ways = Ways::new();
        for (name, device) in all {
            ways.entry(name.to_owned()).or_default().insert(device.to_owned());
        }
        ways
    }

    /// The time, in seconds, that UCX estimates for a message of so many bytes.
    fn claim(&self, endpoint: Raw, bytes: u64) -> Option<f64> {
        let (field, at) = CLAIM;
        let asked = Structure::<8>::of(&[(0, field), (at, bytes)]);
        let mut told = Structure::<8>::of(&[(0, field)]);
        // SAFETY: the endpoint has been made, and structures have the layout of the header.
        let status = unsafe { (self.claims?)(endpoint, asked.at(), told.at_mut()) };
        Some(f64::from_bits(told.word(at))).filter(|time| status >= 0 && time.is_normal())
    }

    /// What an endpoint uses. Lines such as: lane[0]:  2:rc_mlx5/mlx5_0:1.0 md[1] -> …
    fn used(&self, endpoint: Raw) -> Vec<String> {
        // SAFETY: the endpoint has been made, and the stream is open.
        let told = printed(|stream| unsafe { (self.api.print_endpoint)(endpoint, stream) });
        let of = |line: &str| {
            let lane = line.split_once("lane[")?.1.split_whitespace().nth(1)?;
            Some(lane.split_once(':')?.1.rsplit_once('.')?.0.to_owned())
        };
        told.lines().filter_map(of).collect()
    }
}

/// Whether the library was built with assertions: it has the text of one that other builds leave out.
fn build(path: &Path) -> Option<(String, String)> {
    let text = b"UCP_REQUEST_FLAG_COMPLETED)";
    let bytes = std::fs::read(path).unwrap_or_default();
    let has = bytes.windows(text.len()).any(|of| of == text);
    has.then(|| ("build".to_owned(), "assertions".to_owned()))
}

/// What a function writes to a stream.
fn printed(write: impl FnOnce(*mut libc::FILE)) -> String {
    let (mut at, mut len) = (null_mut(), 0);
    // SAFETY: the stream writes text that ends with 0 to memory of its own until it is closed. That is freed.
    unsafe {
        let stream = libc::open_memstream(&mut at, &mut len);
        if !stream.is_null() {
            write(stream);
            libc::fclose(stream);
        }
        let printed = text(at);
        libc::free(at.cast());
        printed
    }
}

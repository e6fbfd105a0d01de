//! Routes in a dragonfly: to the link between both groups, over it, and on to the other router.
//!
//! Channels are those between routers. Those between a node and its router are part of its interface.

use crate::topology::Dragonfly;

/// From each router to each of its group, and the links of each group.
pub(super) fn channels(dragonfly: &Dragonfly) -> usize {
    let groups = dragonfly.links() + 1;
    groups * (dragonfly.routers().pow(2) + dragonfly.links())
}

pub(super) fn route(dragonfly: &Dragonfly, from: usize, to: usize, mut tell: impl FnMut(usize)) {
    let (routers, links) = (dragonfly.routers(), dragonfly.links());
    let ((group, router), (last_group, last)) = (dragonfly.place(from), dragonfly.place(to));
    let first = group * (routers * routers + links);
    if group == last_group {
        if router != last {
            tell(first + router * routers + last);
        }
        return;
    }
    let ((link, out), (_, into)) =
        (dragonfly.link(group, last_group), dragonfly.link(last_group, group));
    if router != out {
        tell(first + router * routers + out);
    }
    tell(first + routers * routers + link);
    if into != last {
        tell(last_group * (routers * routers + links) + into * routers + last);
    }
}

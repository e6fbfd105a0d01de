//! Both transports pass the suite, connecting included.

use bandgap_conformance::conforms;
use grpc::{Calls, OnStream, Over};

conforms!(transport calls: Over<Calls>);
conforms!(transport stream: Over<OnStream>);

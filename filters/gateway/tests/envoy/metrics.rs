//! What a monitoring system reads.

use portcullis_testkit::envoy::{EnvoyConfig, h1, workspace_root};
use serde_json::{Value, json};

use crate::support::{Chain, credentials};
use crate::{access_log, client_id, overall, per_client};

/// The tag extraction that is shipped with the configurations.
fn shipped_stats_config(scenario: &str) -> Value {
    let path = workspace_root().join(format!("envoy-config/{scenario}/envoy.yaml"));
    let text = std::fs::read_to_string(&path).expect("a shipped configuration");
    let tags: Vec<Value> = text
        .split("- tag_name: ")
        .skip(1)
        .map(|tag| {
            let mut lines = tag.lines();
            let name = lines.next().expect("a name").trim();
            let regex = lines.next().and_then(|line| line.trim().strip_prefix("regex: ")).expect("a regex");
            json!({"tag_name": name, "regex": regex.trim_matches('\'')})
        })
        .collect();
    assert!(!tags.is_empty(), "{}", path.display());
    json!({"stats_config": {"stats_tags": tags}})
}

#[test]
fn counters_have_stable_names_and_labels() {
    let policies = [client_id(), overall(5), per_client(1), access_log()];
    let chain = Chain::start_with(&policies, |config: EnvoyConfig| {
        config.merge_bootstrap(shipped_stats_config("gateway"))
    });
    h1::get(chain.addr(), "/");
    for client in ["acme", "acme", "globex"] {
        h1::request(chain.addr(), "GET", "/", &credentials(client), b"");
    }
    let text = chain.envoy.admin().get("/stats/prometheus").text();
    for line in [
        r#"portcullis_admitted{portcullis_policy="client_id"} 3"#,
        r#"portcullis_rejected_missing{portcullis_policy="client_id"} 1"#,
        r#"portcullis_admitted{portcullis_policy="rate_limit",portcullis_name="overall"} 3"#,
        r#"portcullis_admitted{portcullis_policy="rate_limit",portcullis_name="per-client"} 2"#,
        r#"portcullis_rejected{portcullis_policy="rate_limit",portcullis_name="per-client"} 1"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{}", ours(&text));
    }
}

#[test]
fn no_client_can_make_a_metric() {
    let chain = Chain::start(&[client_id(), per_client(1), access_log()]);
    let metrics = || -> Vec<String> {
        let names = chain.envoy.stats().into_keys();
        names.filter(|name| name.starts_with("wasmcustom.")).collect()
    };
    let before = metrics();
    for client in ["acme", "globex", "initech"] {
        h1::request(chain.addr(), "GET", "/", &credentials(client), b"");
    }
    h1::get(chain.addr(), "/");
    assert_eq!(metrics(), before);
    assert!(before.len() > 20, "{before:?}");
}

fn ours(text: &str) -> String {
    text.lines().filter(|line| line.starts_with("portcullis_")).collect::<Vec<_>>().join("\n")
}

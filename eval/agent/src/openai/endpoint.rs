//! Where the requests go, and with which key. Nothing is read from the environment here: the library's own
//! configuration would pick up variables that were set for something else.

use async_openai::config::Config;
use http::{HeaderMap, HeaderValue, header};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::options::{ModelSetupError, OPENAI_BASE_URL};

#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    base: String,
    query: Vec<(String, String)>,
    /// The base without user, password and query.
    shown: String,
    loopback: bool,
    key: SecretString,
    headers: HeaderMap,
}

impl Endpoint {
    pub(super) fn new(
        base_url: Option<&str>,
        key: Option<&SecretString>,
    ) -> Result<Self, ModelSetupError> {
        let given = base_url.unwrap_or(OPENAI_BASE_URL).trim();
        let mut url = Url::parse(given).map_err(|error| ModelSetupError::BaseUrl {
            // What does not parse is not shown either: a password may stand anywhere in it.
            given: "...".to_owned(),
            reason: error.to_string(),
        })?;
        let query = url.query_pairs().into_owned().collect();
        url.set_query(None);
        url.set_fragment(None);
        let mut public = url.clone();
        // Both only fail for addresses without a host, which are refused below.
        let _ = public.set_username("");
        let _ = public.set_password(None);
        let shown = public
            .as_str()
            .trim_end_matches('/')
            .trim_end_matches("/chat/completions")
            .to_owned();
        let refuse = |reason: &str| ModelSetupError::BaseUrl {
            given: shown.clone(),
            reason: reason.to_owned(),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("it has to begin with http:// or https://"));
        }
        let Some(host) = url.host_str() else {
            return Err(refuse("it names no host"));
        };
        let loopback = host == "localhost"
            || host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|ip| ip.is_loopback());
        let key = key.filter(|key| !key.expose_secret().trim().is_empty());
        if key.is_none() && host == "api.openai.com" {
            return Err(ModelSetupError::NoKey { endpoint: shown });
        }
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose_secret().trim()))
                .map_err(|_| ModelSetupError::Key)?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let base = url
            .as_str()
            .trim_end_matches('/')
            .trim_end_matches("/chat/completions")
            .to_owned();
        let key = key
            .cloned()
            .unwrap_or_else(|| SecretString::from(String::new()));
        Ok(Self {
            base,
            query,
            shown,
            loopback,
            key,
            headers,
        })
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn is_loopback(&self) -> bool {
        self.loopback
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.query
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base: &str) -> Result<Endpoint, ModelSetupError> {
        Endpoint::new(Some(base), Some(&SecretString::from("key")))
    }

    #[test]
    fn takes_every_form_of_base_url() {
        for (given, url) in [
            (
                "http://127.0.0.1:8080/v1",
                "http://127.0.0.1:8080/v1/chat/completions",
            ),
            (
                "http://127.0.0.1:8080/v1/",
                "http://127.0.0.1:8080/v1/chat/completions",
            ),
            (
                "https://host.example/a/b/v1/chat/completions",
                "https://host.example/a/b/v1/chat/completions",
            ),
            (
                "http://localhost:11434",
                "http://localhost:11434/chat/completions",
            ),
        ] {
            assert_eq!(endpoint(given).unwrap().url("/chat/completions"), url);
        }
        let azure = endpoint("https://x.example/openai/v1?api-version=preview").unwrap();
        assert_eq!(azure.query(), [("api-version", "preview")]);
        assert!(endpoint("http://[::1]:1/v1").unwrap().is_loopback());
        assert!(!endpoint("http://10.0.0.1/v1").unwrap().is_loopback());
    }

    #[test]
    fn refuses_what_cannot_work_and_shows_no_password() {
        for bad in ["", "localhost:8080", "ftp://x/v1", "http://"] {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
        let error = endpoint("ftp://user:hunter2@x.example/v1?key=hunter2")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("x.example") && !error.contains("hunter2"),
            "{error}"
        );
        assert!(
            !endpoint("http://user:hunter2@x.example/v1")
                .unwrap()
                .shown()
                .contains("hunter2")
        );
        assert!(matches!(
            Endpoint::new(None, None),
            Err(ModelSetupError::NoKey { .. })
        ));
        let key = SecretString::from("bad\nkey");
        assert!(matches!(
            Endpoint::new(None, Some(&key)),
            Err(ModelSetupError::Key)
        ));
        assert!(!format!("{:?}", endpoint("http://x.example/v1").unwrap()).contains("Bearer key"));
    }
}

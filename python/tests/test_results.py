"""What comes back: frozen, exportable, printable."""

import dataclasses
import json
import re
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import polars
import pyarrow
import pytest

import leakgauge
from leakgauge import results


def test_results_have_one_shape(found):
    rng = np.random.default_rng(0)
    include = rng.random(400) < 0.5
    results = [
        found,
        leakgauge.audit(lambda x: x + rng.laplace(), [0, 1], "dp(1)", max_samples=200),
        leakgauge.audit_scores(include=include, scores=rng.normal(include), design="one-run", claims="dp(1)"),
        leakgauge.confusion(80, 20, 30, 70),
    ]
    for result in results:
        assert result.verdict in ("violated", "inconclusive", "holds", None)
        assert isinstance(result.claims, tuple) and isinstance(result.warnings, tuple)
        assert result.epsilon.lower >= 0 and 0.9 < result.confidence < 1
        assert result.to_text().strip() and "</html>" in result.to_html() and json.loads(result.to_json()) is not None


def test_pairs_are_a_frame_of_pandas(found):
    pandas = pytest.importorskip("pandas")
    frame = found.pairs.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(found.pairs)
    assert frame["secret_1"].tolist() == [pair.secrets[0] for pair in found.pairs]


def test_verdicts_and_figures_are_attributes(found):
    report = found.to_dict()
    assert found.verdict == "violated" == found.claims[0].verdict
    assert found.claims[1].verdict == report["claims"][1]["verdict"]
    assert found.epsilon.lower == report["worst_pair"]["epsilon"]["lower"] > 0.5
    assert found.worst_pair.secrets == tuple(report["worst_pair"]["secrets"])
    assert found.total_variation.lower == report["worst_pair"]["total_variation"]["lower"]
    assert found.bayes_security.upper == report["overall"]["bayes_security"]["upper"]
    assert found.advantage.upper is None and "upper bound" in found.advantage.reason
    assert len(found.pairs) == 6 and found.pairs[0].secrets == ("0", "1")
    # The noise is a sum in floating point that nobody rounded.
    assert [warning.code for warning in found.warnings] == ["last-bits"]
    assert found.to_dict() == json.loads(found.to_json())


def test_verdict_is_the_worst_and_none_without_claims(log):
    estimate = leakgauge.estimate_log(log, budget=1)
    assert estimate.verdict is None and estimate.claims == ()
    claims = [results.Claim(claim="", verdict=verdict) for verdict in ("holds", "inconclusive")]
    assert results.verdict_of(claims) == "inconclusive"
    assert results.verdict_of(claims[:1]) == "holds"


def test_nothing_can_be_changed(found):
    for holder, name in ((found, "claims"), (found.worst_pair, "secrets"), (found.claims[0], "verdict")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(holder, name, None)
    report = leakgauge.channel([[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.found.bayes_security = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.command = "x"
    with pytest.raises(AttributeError, match="keys: "):
        report.beauty


def test_pairs_are_a_frame(found):
    for frame in (polars.DataFrame(found.pairs), polars.from_arrow(pyarrow.table(found.pairs))):
        assert frame["secret_1"].to_list() == [pair.secrets[0] for pair in found.pairs]
        assert frame["total_variation_lower"].to_list() == [pair.total_variation.lower for pair in found.pairs]
        assert frame["total_variation_upper"].null_count() == 6


def test_texts_are_short_and_reports_long(found):
    text = repr(found)
    assert text.startswith("leakgauge audit: violated (3000 rows)\n  violated: dp(epsilon=0.5).")
    assert len(text.splitlines()) == 5 and "last-bits" in text.splitlines()[-1]
    assert "VIOLATED: dp(epsilon=0.5)" in found.to_text() and "\n## Verdict\n" in found.to_markdown()
    with pytest.raises(leakgauge.OptionError, match="text, json, markdown"):
        found._native.report("pdf")


def test_the_page_stands_alone_and_the_notebook_gets_its_body(found):
    page = found.to_html()
    assert page.startswith("<!DOCTYPE html>") and "leakgauge.audit_log(data, claims=[" in page
    inside = found._repr_html_()
    for frame in ("<html", "<head>", "<body", "<script", "<!DOCTYPE", ":root"):
        assert frame not in inside, frame
    assert "prefers-color-scheme: dark" in inside
    # It is one element of XML: nothing is left open in the notebook.
    root = xml.etree.ElementTree.fromstring(re.sub(r"<style>.*</style>", "", inside, flags=re.DOTALL))
    own = root.attrib["class"]
    assert re.search(rf"\.{own} \{{", inside)
    names = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert names and len(set(names)) == len(names) and all(name.startswith(own) for name in names)
    links = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', inside)
    assert all((one or other) in names for one, other in links)
    # Every rule of the style is nested in that element: braces close where they should.
    style = re.search(r"<style>(.*)</style>", inside, re.DOTALL).group(1)
    assert style.count("{") == style.count("}") and style.strip().endswith("}")
    assert found._repr_html_() != inside


def test_pictures_are_svg(found):
    assert {"distributions", "bayes-security", "trade-off"} <= set(found.pictures)
    for picture in found.pictures.values():
        assert picture._repr_svg_().startswith("<svg") and str(picture) == picture.svg
        xml.etree.ElementTree.fromstring(picture.svg)


def test_fields_are_keys_of_the_schema():
    printed = subprocess.run([sys.executable, "-m", "leakgauge", "schema", "audit"], capture_output=True, text=True)
    schema = json.loads(printed.stdout)

    def keys(name):
        return set(schema["$defs"][name]["properties"])

    for part, name in (
        (results.Estimate, "Estimate"),
        (results.WorstPair, "WorstPair"),
        (results.Pair, "PairFigures"),
        (results.Overall, "Overall"),
        (results.EpsilonLimit, "EpsilonLimit"),
        (results.Privacy, "PrivacyLimit"),
        (results.Difference, "Difference"),
        (results.Limits, "Located"),
        (results.Blocks, "Block"),
        (results.Claim, "ClaimReport"),
        (results.LogWarning, "Warning"),
    ):
        fields = {field.name for field in dataclasses.fields(part)}
        known = set().union(*(keys(found) for found in schema["$defs"] if found in (name, f"{name}Keys")))
        assert fields <= known, (name, fields - known)

"""The three pictures of a run, as SVG text. Narrow, so that they can be read on a phone."""

import io
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from app.pipeline.design import DesignName, Enforcement
from eval.analysis import ALL, Analysis, in_order, rate
from eval.results import Results

WIDTH_INCHES = 4.6
COLOURS = dict(zip(DesignName, ("#b3560f", "#8a6d00", "#2f7d4f", "#7a4fa3", "#1f5fa8"), strict=True))
LIMIT_POUNDS, REDUCED_POUNDS = 10_000, 12_000

mpl.rcParams.update(
    {
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.sans-serif": ["system-ui", "DejaVu Sans"],
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.constrained_layout.use": True,
    }
)


def accuracy_by_group(analysis: Analysis, groups: Sequence[str]) -> str:
    """Bars by group and design with their 95 % intervals, one panel an enforcement."""
    panels = [e for e in Enforcement if any(cell.condition.endswith(f"/{e}") for cell in analysis.cells)]
    figure = Figure(figsize=(WIDTH_INCHES, 2.5 * len(panels) + 0.4))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, enforcement in zip(axes, panels, strict=True):
        _bars(axis, analysis, groups, enforcement)
        axis.set_title(enforcement.value, loc="left", fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False, columnspacing=1, handlelength=1)
    return _svg(figure, "accuracy")


def _bars(axis: Axes, analysis: Analysis, groups: Sequence[str], enforcement: Enforcement) -> None:
    found = {(c.condition, c.group): c.rates["fully_correct"] for c in analysis.cells if c.group != ALL}
    width = 0.8 / len(DesignName)
    for n, design in enumerate(DesignName):
        places = [(at, found.get((f"{design}/{enforcement}", group))) for at, group in enumerate(groups)]
        known = [(at - 0.4 + width * (n + 0.5), one) for at, one in places if one is not None]
        if not known:
            continue
        shares = [one.share for _, one in known]
        errors = [
            [max(0.0, one.share - one.interval.low) for _, one in known],
            [max(0.0, one.interval.high - one.share) for _, one in known],
        ]
        axis.bar([x for x, _ in known], shares, width * 0.9, yerr=errors, color=COLOURS[design], label=design.value,
                 error_kw={"elinewidth": 0.7, "ecolor": "#444"})  # fmt: skip
    axis.set_xticks(range(len(groups)), [group.replace("_", "\n") for group in groups])
    axis.set_ylim(0, 1.02)
    axis.yaxis.set_major_formatter(PercentFormatter(1.0))


def latency(results: Results) -> str:
    """Boxes to the quartiles, whiskers to the 5th and 95th percentile."""
    conditions = in_order({check.condition for check in results.checks})[::-1]
    figure = Figure(figsize=(WIDTH_INCHES, 0.3 * len(conditions) + 0.8))
    axis = figure.subplots()
    seconds = [[c.latency_ms / 1000 for c in results.checks if c.condition == name] for name in conditions]
    boxes = axis.boxplot(
        seconds, orientation="horizontal", whis=(5, 95), showfliers=False, patch_artist=True, widths=0.6
    )
    for box, name in zip(boxes["boxes"], conditions, strict=True):
        box.set_facecolor(COLOURS[DesignName(name.partition("/")[0])])
        box.set_alpha(1.0 if name.endswith("/constrained") else 0.5)
    for median in boxes["medians"]:
        median.set_color("#000")
    axis.set_yticks(range(1, len(conditions) + 1), conditions)
    axis.set_xlabel("seconds a check, as the client saw it")
    axis.set_xlim(left=0)
    return _svg(figure, "latency")


def accuracy_by_distance(results: Results) -> str | None:
    """Fully right against how far the total lies above the limit; None if no scenario does."""
    totals = {s.id: s.total for s in results.header.scenarios if s.total >= LIMIT_POUNDS}
    if not totals:
        return None
    figure = Figure(figsize=(WIDTH_INCHES, 3.0))
    axis = figure.subplots()
    for design in DesignName:
        points = []
        for scenario, total in totals.items():
            checks = [c for c in results.checks if (c.design, c.scenario) == (design.value, scenario)]
            if checks:
                points.append((float(total - LIMIT_POUNDS), rate(checks, "fully_correct").share))
        if points:
            xs, ys = zip(*sorted(points), strict=True)
            axis.plot(
                xs, ys, "o-", color=COLOURS[design], markersize=3.5, linewidth=1.2, label=design.value, alpha=0.85
            )
    axis.axvline(REDUCED_POUNDS - LIMIT_POUNDS, color="#888", linewidth=0.8, linestyle=":")
    axis.annotate("above: decline", (REDUCED_POUNDS - LIMIT_POUNDS, 0.5), xytext=(3, 0), textcoords="offset points",
                  fontsize=8, color="#666", rotation=90, va="center")  # fmt: skip
    axis.set_xlabel("pounds above the limit of £10,000")
    axis.set_ylim(-0.03, 1.05)
    axis.yaxis.set_major_formatter(PercentFormatter(1.0))
    figure.legend(loc="outside upper center", ncols=5, frameon=False, columnspacing=1, handlelength=1.2)
    return _svg(figure, "distance")


def _svg(figure: Figure, salt: str) -> str:
    """The element alone, with ids of its own, to stand in a page beside others."""
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :].strip() + "\n"

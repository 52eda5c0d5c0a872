extension HTMLReport {
  /// The style sheet, with colors for light and dark pages. No information depends on the colors.
  static let style = """

    :root{color-scheme:light dark}
    body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem 1rem 4rem;overflow-wrap:anywhere}
    h1{font-size:1.4rem;margin:.5rem 0}
    h2{font-size:1.1rem;margin:2rem 0 .3rem}
    p{margin:.3rem 0}
    code,pre{font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap}
    pre,.problem{margin:.4rem 0;padding:.5rem .7rem;border-radius:4px;background:light-dark(#f3f5f7,#1b2027)}
    .problem{border-left:3px solid light-dark(#cf222e,#ff7b72)}
    .error .problem{border-color:light-dark(#9a6700,#e3b341)}
    .problem pre{padding:0}
    .dim,.time,dt,td:nth-child(1),td:nth-child(3),td:nth-child(4){color:light-dark(#57606a,#9aa4af)}
    b.passed,h1 .passed{color:light-dark(#1a7f37,#3fb950)}
    b.failed,h1 .failed,tr.failed code{color:light-dark(#cf222e,#ff7b72)}
    b.error,h1 .error{color:light-dark(#9a6700,#e3b341)}
    b{display:inline-block;width:1.1em;text-align:center}
    .bar{display:flex;height:8px;border-radius:4px;overflow:hidden;background:light-dark(#d0d7de,#30363d)}
    .bar .passed{background:light-dark(#2da44e,#3fb950)}
    .bar .failed{background:light-dark(#cf222e,#f85149)}
    .bar .error{background:light-dark(#bf8700,#d29922)}
    .bar .skipped{background:light-dark(#8c959f,#6e7681)}
    .test{border-top:1px solid light-dark(#d8dee4,#30363d);padding:.25rem 0;content-visibility:auto;contain-intrinsic-size:auto 2rem}
    .test[open]{padding-bottom:1rem}
    summary{cursor:pointer}
    .time{float:right;margin-left:1rem;font-variant-numeric:tabular-nums}
    .tag{font-size:12px;padding:0 .4em;border-radius:4px;background:light-dark(#ddf4ff,#12304d)}
    dl{display:grid;grid-template-columns:6rem 1fr;margin:.3rem 0}
    dt{grid-column:1}
    dd{grid-column:2;margin:0}
    table{border-collapse:collapse;width:100%;margin:.4rem 0}
    td{padding:.1rem .6rem .1rem 0;vertical-align:top;font-size:13px;font-variant-numeric:tabular-nums}
    td:nth-child(2){width:100%}
    td:nth-child(1),td:nth-child(4){white-space:nowrap}
    td:nth-child(3){min-width:5rem}
    pre.values{margin:0;padding:0 0 0 1rem;background:none}
    figure{margin:.8rem 0}
    figcaption{font-size:13px}
    svg{width:100%;height:auto;font:11px system-ui,sans-serif}
    svg text{fill:light-dark(#57606a,#9aa4af)}
    svg .axis{stroke:light-dark(#d0d7de,#3d444d)}
    svg .sent{stroke:light-dark(#0969da,#58a6ff);stroke-width:2}
    svg .received{stroke:light-dark(#8250df,#bc8cff);stroke-width:2}
    svg .step{fill:light-dark(#d0d7de,#3d444d)}
    svg .step.failed{fill:light-dark(#cf222e,#f85149)}
    svg .line{fill:none;stroke:light-dark(#0969da,#58a6ff);stroke-width:1.5}
    svg circle{fill:light-dark(#0969da,#58a6ff)}
    body:has(#only:checked) :is(.passed.test,.skipped.test,section:not(:has(.failed.test,.error.test,.not_run.test))){display:none}

    """
}

// The look of the report page: colours as variables, once for light and once for dark, told apart also by people who see few colours.

export const REPORT_STYLE = `
:root { color-scheme: light dark; --paper: #fcfcfb; --ink: #0b0b0b; --soft: #52514e; --line: #e1e0d9; --card: #f3f2ee; --well: #006300; --unwell: #b3261e;
  --t1: #2a78d6; --t2: #1baf7a; --t3: #eda100; --t4: #008300; --t5: #4a3aa7; --t6: #e34948; --t7: #e87ba4; --t8: #eb6834;
  --s0: #0d366b; --s1: #1c5cab; --s2: #2a78d6; --s3: #5598e7; --s4: #86b6ef; --s5: #b7d3f6; --s6: #e1e0d9 }
@media (prefers-color-scheme: dark) { :root { --paper: #1a1a19; --ink: #ffffff; --soft: #c3c2b7; --line: #3a3a37; --card: #262624; --well: #5cc65c; --unwell: #ff8a80;
  --t1: #3987e5; --t2: #199e70; --t3: #c98500; --t4: #2fa02f; --t5: #9085e9; --t6: #e66767; --t7: #d55181; --t8: #d95926;
  --s0: #cde2fb; --s1: #9ec5f4; --s2: #6da7ec; --s3: #3987e5; --s4: #256abf; --s5: #184f95; --s6: #3a3a37 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .5rem }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem }
svg { display: block; width: 100%; height: auto }
svg text { fill: var(--soft); font-size: 13px; font-family: inherit }
.verdict { font-weight: 600; margin: 0 0 1.5rem }
.well { color: var(--well) }
.unwell { color: var(--unwell) }
.soft { color: var(--soft); margin-top: 3rem }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .75rem; margin: 0 }
.figures div { background: var(--card); border-radius: .5rem; padding: .6rem .8rem }
.figures dt { color: var(--soft); font-size: .85rem }
.figures dd { margin: 0; font-size: 1.05rem; font-weight: 600; font-variant-numeric: tabular-nums }
.legend { list-style: none; padding: 0; margin: 0 0 .75rem; display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; color: var(--soft); font-size: .9rem }
.legend li { display: flex; align-items: center; gap: .4rem }
.legend svg { width: .8rem; height: .8rem; flex: none }
.grid { stroke: var(--line); stroke-width: 1 }
.line { fill: none; stroke: var(--t1); stroke-width: 2 }
.area { fill: var(--t1); opacity: .15 }
.range { stroke: var(--soft); stroke-width: 2 }
.range-mark { fill: var(--soft) }
.stage { fill: var(--soft) }
${Array.from({ length: 8 }, (_, index) => `.tone${index + 1} { fill: var(--t${index + 1}) }`).join('\n')}
${Array.from({ length: 7 }, (_, index) => `.seat${index} { fill: var(--s${index}) }`).join('\n')}
details { margin-top: .75rem }
summary { cursor: pointer; color: var(--soft) }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; margin-top: .5rem }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem }
th, td { text-align: right; padding: .25rem .7rem; border-bottom: 1px solid var(--line); font-weight: 400 }
th:first-child { text-align: left }
thead th { font-weight: 600 }
`

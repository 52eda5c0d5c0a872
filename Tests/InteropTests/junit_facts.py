"""junit_facts.py FILE: reads a JUnit report with Python's own XML parser and prints what it understood: one JSON record a test."""
import json
import sys
import xml.etree.ElementTree

for suite in xml.etree.ElementTree.parse(sys.argv[1]).getroot():
    for case in suite.iter('testcase'):
        outcome = next(iter(case), None)
        print(json.dumps({
            'suite': suite.get('name'), 'name': case.get('name'), 'time': case.get('time'), 'outcome': 'passed' if outcome is None else outcome.tag,
            'message': None if outcome is None else outcome.get('message'), 'text': None if outcome is None else outcome.text or ''}))

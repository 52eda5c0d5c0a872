# tap_facts.pl FILE: reads TAP with Perl's own TAP::Parser and prints what it understood: one JSON record a test, then one of the whole.
use strict;
use warnings;
use JSON::PP;
use TAP::Parser;

my $json = JSON::PP->new->canonical->latin1;
open(my $file, '<', $ARGV[0]) or die "$ARGV[0]: $!";
my $parser = TAP::Parser->new({ tap => do { local $/; <$file> } });
my ($test, @yaml, $bailout);
while (my $result = $parser->next) {
    if ($result->is_test) {
        print $json->encode({
            number => 0 + $result->number, ok => $result->is_actual_ok ? JSON::PP::true : JSON::PP::false, skip => $result->has_skip ? $result->explanation : undef,
            todo => $result->has_todo ? JSON::PP::true : JSON::PP::false, description => $result->description }), "\n";
    } elsif ($result->is_yaml) {
        push @yaml, $result->data;
    } elsif ($result->is_bailout) {
        $bailout = $result->explanation;
    }
}
print $json->encode({
    plan => $parser->plan, errors => [$parser->parse_errors], run => 0 + $parser->tests_run, yaml => \@yaml, bailout => $bailout,
    version => $parser->version, problems => $parser->has_problems ? JSON::PP::true : JSON::PP::false }), "\n";
